#!/usr/bin/env bash
# The padded transpose of a 1024x1024 f32 matrix, whole process, on two cores: `tile33 check` beside Oclgrind, in turns,
# the median of N runs (5). Needs Debian's `oclgrind` and `cargo build --release`.
#   benches/oclgrind/run.sh [N]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
runs=${1:-5}
tile33=${TILE33:-$here/../../target/release/tile33}
cores=0,1
cd "$here"

# Oclgrind compiles the one kernel, so tile33 gets the one kernel: cut from the catalogue's PTX, with its header.
ptx=$here/../../kernels-gpu/ptx/transpose.sm_75.ptx
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
{ awk '/^\.(version|target|address_size)/' "$ptx"
  awk '/^\.visible \.entry transpose_padded_f32\(/ { on = 1 } on { print } on && /^}/ { exit }' "$ptx"
  awk '$1 == ".file"' "$ptx"; } > "$work/transpose.ptx"
cp launch.toml "$work"
sed -e 's/\[32, 32, 1\]/[8, 8, 1]/; s/1048576/65536/; s/value = 1024/value = 256/' launch.toml > "$work/launch-256.toml"

# Wall-clock and processor milliseconds of a command, which must succeed.
timed() {
  local TIMEFORMAT='%R %U %S' out
  out=$( { time taskset -c "$cores" "$@" >/dev/null 2>&1; } 2>&1 ) || { echo "failed: $*" >&2; exit 1; }
  awk '{ printf "%d %d\n", $1 * 1000, ($2 + $3) * 1000 }' <<<"$out"
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

measure() {
  local label=$1 target=$2; shift 2
  local ours=() theirs=() split=0
  while [ "${1}" != -- ]; do ours+=("$1"); shift; done
  shift; theirs=("$@")
  local a="" b=""
  for _ in $(seq "$runs"); do
    a+="$(timed "${ours[@]}")"$'\n'
    b+="$(timed "${theirs[@]}")"$'\n'
  done
  local wall_a wall_b cpu_a cpu_b
  wall_a=$(cut -d' ' -f1 <<<"${a%$'\n'}" | median); cpu_a=$(cut -d' ' -f2 <<<"${a%$'\n'}" | median)
  wall_b=$(cut -d' ' -f1 <<<"${b%$'\n'}" | median); cpu_b=$(cut -d' ' -f2 <<<"${b%$'\n'}" | median)
  awk -v l="$label" -v t="$target" -v wa="$wall_a" -v wb="$wall_b" -v ca="$cpu_a" -v cb="$cpu_b" 'BEGIN {
    printf "| %s | %d (%d) | %d (%d) | %.0f | %s |\n", l, wa, ca, wb, cb, wb / wa, t }'
}

echo "| checks | tile33 ms wall (processor) | oclgrind ms wall (processor) | ratio | wanted |"
echo "|---|---|---|---|---|"
measure none 50 "$tile33" check "$work/launch.toml" --checks none -- oclgrind-kernel transpose.sim
measure "none, and no counters" 50 "$tile33" check "$work/launch.toml" --checks none --no-counters -- \
  oclgrind-kernel transpose.sim
measure "races, uninitialised reads" 100 "$tile33" check "$work/launch.toml" --checks all -- \
  oclgrind-kernel --data-races --uninitialized transpose.sim

alone() {
  local label=$1 times=""; shift
  for _ in $(seq "$runs"); do times+="$(timed "$@")"$'\n'; done
  printf '| %s | %d (%d) | | | |\n' "$label" "$(cut -d' ' -f1 <<<"${times%$'\n'}" | median)" \
    "$(cut -d' ' -f2 <<<"${times%$'\n'}" | median)"
}
alone "256x256, none" "$tile33" check "$work/launch-256.toml" --checks none
alone "256x256, all" "$tile33" check "$work/launch-256.toml" --checks all
