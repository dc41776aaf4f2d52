//! What the kernels' accesses cost, request by request, on images of whole tiles whose border is clamped.

use kernels_gpu::convolve::{BLOCK, Tile};
use tile33_layout::{Op, Shape, Space, WarpAccess};

use super::steps::Way;
use crate::catalogue::{Access, Kind};

/// Rows, columns and border of the image that a method's claims are about: two tiles in each direction.
pub(super) fn size(way: Way, radius: usize) -> [usize; 3] {
    let tile = tile(way, radius);
    [2 * tile.rows as usize, 2 * tile.cols as usize, 1]
}

fn tile(way: Way, radius: usize) -> Tile {
    match way {
        Way::Square(tile) => tile,
        Way::Any => Tile::NAIVE,
        Way::Rows => Tile::ROWS,
        Way::RowsThenColumns(_) => Tile::columns(radius as u32),
        Way::Fused => Tile::FUSED,
    }
}

/// Every access of the launch on that image, of pixels of `bytes` bytes.
pub(super) fn accesses(way: Way, radius: usize, bytes: usize) -> Vec<Access> {
    let mut tally = Tally {
        accesses: Vec::new(),
        radius: radius as u32,
        bytes: bytes as u32,
        tile: tile(way, radius),
    };
    for column in 0..2 {
        match way {
            Way::Square(tile) if tile == Tile::TILED => tally.tiled(column),
            Way::Square(_) | Way::Any => tally.naive(column),
            Way::Rows => tally.rows(column),
            Way::RowsThenColumns(shape) => tally.columns(shape),
            Way::Fused => tally.fused(column),
        }
    }
    tally.accesses
}

/// Warps of a block.
const WARPS: u64 = BLOCK[1] as u64;

struct Tally {
    accesses: Vec<Access>,
    radius: u32,
    bytes: u32,
    tile: Tile,
}

impl Tally {
    /// Requests, each for what the lanes that have an address access at it.
    fn add(&mut self, kind: Kind, what: &str, requests: u64, width: u32, address: impl Fn(u32) -> Option<u64>) {
        let (space, op) = match kind {
            Kind::SharedLoad => (Space::Shared, Op::Load),
            Kind::SharedStore => (Space::Shared, Op::Store),
            Kind::GlobalStore => (Space::Global, Op::Store),
            _ => (Space::Global, Op::Load),
        };
        // No access here is misaligned or of another width, so there is always one to ask.
        let Ok(access) = WarpAccess::from_fn(space, op, width, address) else {
            return;
        };
        if access.mask() == 0 {
            return;
        }
        let cost = u64::from(if kind.is_shared() {
            access.wavefronts()
        } else {
            access.sectors()
        });
        let same = |known: &&mut Access| known.kind == kind && known.what == what && known.cost == cost;
        match self.accesses.iter_mut().find(same) {
            Some(known) => known.requests += requests,
            None => self.accesses.push(Access::new(kind, what, requests, cost)),
        }
    }

    /// Requests for neighbouring words, each lane one.
    fn words(&mut self, kind: Kind, what: &str, requests: u64, lanes: u32) {
        self.add(kind, what, requests, 4, |lane| {
            (lane < lanes).then_some(u64::from(4 * lane))
        });
    }

    /// Requests for vectors of 16 bytes, each lane one, in neighbouring columns.
    fn vectors(&mut self, kind: Kind, what: &str, requests: u64) {
        self.add(kind, what, requests, 16, |lane| Some(u64::from(16 * lane)));
    }

    /// The column of the image that stands at `col` of a row of two tiles.
    fn clamped(&self, col: i64) -> u64 {
        col.clamp(0, 2 * i64::from(self.tile.cols) - 1) as u64
    }

    /// Requests for the pixels that stand from `first` on, one for each of so many lanes.
    fn pixels(&mut self, requests: u64, first: i64, lanes: u32) {
        let bytes = u64::from(self.bytes);
        let places: Vec<u64> = (0..lanes)
            .map(|lane| self.clamped(first + i64::from(lane)) * bytes)
            .collect();
        self.add(
            Kind::GlobalLoad,
            "neighbouring pixels of a row",
            requests,
            self.bytes,
            |lane| places.get(lane as usize).copied(),
        );
    }

    fn side(&self) -> u32 {
        2 * self.radius + 1
    }

    /// Columns of a vector's margin.
    fn margin(&self) -> u32 {
        4 * self.radius.div_ceil(4)
    }

    fn stored_pixels(&mut self, requests: u64) {
        let bytes = self.bytes;
        self.add(Kind::GlobalStore, "32 pixels of a row", requests, bytes, |lane| {
            Some(u64::from(lane * bytes))
        });
    }

    fn naive(&mut self, column: u32) {
        let rows = 2 * u64::from(self.tile.rows);
        let side = u64::from(self.side());
        for j in 0..self.side() {
            let first = i64::from(column * self.tile.cols + j) - i64::from(self.radius);
            self.pixels(rows * side, first, 32);
        }
        self.add(
            Kind::GlobalLoad,
            "a weight, for all lanes",
            rows * side * side,
            4,
            |_| Some(0),
        );
        self.stored_pixels(rows);
    }

    /// A row of a tile and its halo on both sides, staged by 32 lanes at a time.
    fn staged(&mut self, requests: u64, column: u32, halo: u32) {
        let width = self.tile.cols + 2 * halo;
        for j in (0..width).step_by(32) {
            let lanes = (width - j).min(32);
            let first = i64::from(column * self.tile.cols + j) - i64::from(halo);
            self.pixels(requests, first, lanes);
            self.words(
                Kind::SharedStore,
                "neighbouring pixels, into a row of the tile",
                requests,
                lanes,
            );
        }
    }

    fn tiled(&mut self, column: u32) {
        const TILES: u64 = 2;
        let side = self.side();
        for w in (0..side * side).step_by(32) {
            let lanes = (side * side - w).min(32);
            self.words(Kind::GlobalLoad, "neighbouring weights", TILES, lanes);
            self.words(Kind::SharedStore, "neighbouring weights", TILES, lanes);
        }
        let height = u64::from(self.tile.rows + 2 * self.radius);
        self.staged(TILES * height, column, self.radius);
        let reads = u64::from(side * (self.tile.rows / BLOCK[1] + 2 * self.radius));
        self.words(
            Kind::SharedLoad,
            "32 neighbours in a row of the tile",
            TILES * WARPS * reads,
            32,
        );
        let weights = TILES * WARPS * u64::from(side * side);
        self.add(Kind::SharedLoad, "a weight, for all lanes", weights, 4, |_| Some(0));
        self.stored_pixels(TILES * u64::from(self.tile.rows));
    }

    fn rows(&mut self, column: u32) {
        let rows = 2 * u64::from(self.tile.rows);
        self.staged(rows, column, self.margin());
        let vectors = u64::from(1 + 2 * self.margin() / 4);
        self.vectors(Kind::SharedLoad, "32 vectors of a row of the tile", rows * vectors);
        self.vectors(Kind::GlobalStore, "128 sums of a row", rows);
    }

    fn columns(&mut self, shape: Shape<'static>) {
        const TILES: u64 = 2;
        let column = |lane: u32| Some(u64::from(4 * shape.offset(lane, 0)));
        let staged = TILES * u64::from(shape.cols() / 4);
        self.words(Kind::GlobalLoad, "32 sums of a row", 4 * staged, 32);
        self.add(
            Kind::SharedStore,
            "a vector of each row of the tile",
            staged,
            16,
            column,
        );
        let made = TILES * u64::from(self.tile.rows / 4);
        let vectors = u64::from(1 + self.radius.div_ceil(2));
        self.add(
            Kind::SharedLoad,
            "a vector of each row of the tile",
            made * vectors,
            16,
            column,
        );
        self.stored_pixels(4 * made);
    }

    fn fused(&mut self, column: u32) {
        const TILES: u64 = 2;
        let requests = TILES * u64::from(self.tile.rows + 2 * self.radius);
        let (margin, bytes, radius) = (self.margin(), self.bytes, i64::from(self.radius));
        let (start, end) = (column * self.tile.cols, 2 * self.tile.cols);
        let col = |lane: u32| start + 4 * lane;
        // At the ends of a row a thread's vectors are not all inside.
        let inside = |lane: u32| col(lane) >= margin && col(lane) + 4 + margin <= end;
        for vector in 0..1 + 2 * margin / 4 {
            let address = |lane: u32| u64::from((col(lane) + 4 * vector).wrapping_sub(margin) * bytes);
            let lanes: Vec<Option<u64>> = (0..32).map(|lane| inside(lane).then(|| address(lane))).collect();
            self.add(Kind::GlobalLoad, "vectors of a row", requests, 4 * bytes, |lane| {
                lanes[lane as usize]
            });
        }
        for i in 0..4 + 2 * self.radius {
            let place = |lane: u32| self.clamped(i64::from(col(lane) + i) - radius) * u64::from(bytes);
            let lanes: Vec<Option<u64>> = (0..32).map(|lane| (!inside(lane)).then(|| place(lane))).collect();
            self.add(
                Kind::GlobalLoad,
                "a pixel near the end of a row",
                requests,
                bytes,
                |lane| lanes[lane as usize],
            );
        }
        self.vectors(
            Kind::SharedStore,
            "32 vectors of sums, into a row of the tile",
            requests,
        );
        let reads = TILES * WARPS * u64::from(4 + 2 * self.radius);
        self.vectors(Kind::SharedLoad, "32 vectors of a row of the tile", reads);
        self.add(
            Kind::GlobalStore,
            "32 vectors of a row",
            TILES * u64::from(self.tile.rows),
            4 * bytes,
            |lane| Some(u64::from(4 * lane * bytes)),
        );
    }
}
