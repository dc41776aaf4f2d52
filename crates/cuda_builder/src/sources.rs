//! What a kernel crate is made of, without compiling it: its own files, those of the crates it depends on by path, and
//! the versions of everything else. The hash of all that tells whether PTX made earlier, perhaps elsewhere, is current.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, Target};
use sha2::{Digest, Sha256};

use crate::BuildError;

/// One PTX file that a kernel crate wants built, an entry of `package.metadata.ptx` in its manifest:
///
/// ```toml
/// [package.metadata.ptx]
/// "matmul.sm_75.ptx" = { arch = "sm_75", kernels = "matmul_" }
/// "matmul_tensor.sm_80.ptx" = { arch = "sm_80", kernels = "matmul_tensor_" }
/// "transpose.sm_75.ptx" = { arch = "sm_75", kernels = "transpose_" }
/// ```
///
/// A kernel is in the files with the longest `kernels` that its name begins with: those of `matmul_tensor_f16` are only in
/// the second. A program then loads what it launches, and kernels that need a later architecture keep the others from none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleRequest {
    /// Name of the PTX file.
    pub file: String,
    /// The architecture to build for.
    pub arch: String,
    /// Features of the crate to enable.
    pub features: Vec<String>,
    /// What the names of its kernels begin with; empty for every kernel that no other file of these features takes.
    pub kernels: String,
}

impl ModuleRequest {
    /// Whether a kernel of this name is in this file, `all` being what its crate asks for.
    pub(crate) fn takes(&self, kernel: &str, all: &[ModuleRequest]) -> bool {
        let longest = all
            .iter()
            .filter(|other| other.features == self.features && kernel.starts_with(&other.kernels))
            .map(|other| other.kernels.len())
            .max();
        kernel.starts_with(&self.kernels) && longest.is_none_or(|longest| longest <= self.kernels.len())
    }

    fn of(package: &Package) -> Result<Vec<ModuleRequest>, BuildError> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Entry {
            arch: String,
            #[serde(default)]
            features: Vec<String>,
            #[serde(default)]
            kernels: String,
        }
        let Some(table) = package.metadata.get("ptx") else {
            return Ok(Vec::new());
        };
        let table: BTreeMap<String, Entry> =
            serde_json::from_value(table.clone()).map_err(|error| BuildError::Metadata {
                path: package.manifest_path.clone().into_std_path_buf(),
                problem: format!("package.metadata.ptx: {error}"),
            })?;
        let request = |(file, entry): (String, Entry)| ModuleRequest {
            file,
            arch: entry.arch,
            features: in_order(entry.features),
            kernels: entry.kernels,
        };
        Ok(table.into_iter().map(request).collect())
    }
}

/// Features in the one order in which they are compared.
pub(crate) fn in_order(mut features: Vec<String>) -> Vec<String> {
    features.sort();
    features.dedup();
    features
}

/// The sources of a kernel crate.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Name of the package.
    pub name: String,
    /// Name of its library, as rustc and symbols spell it.
    pub library: String,
    /// Its Cargo.toml.
    pub manifest: PathBuf,
    /// Root of its workspace.
    pub workspace: PathBuf,
    /// Target folder of its workspace.
    pub target: PathBuf,
    /// The modules that the crate wants built, from `package.metadata.ptx` of its manifest.
    pub modules: Vec<ModuleRequest>,
    /// Folders of the packages outside the workspace, with their names.
    pub elsewhere: Vec<(PathBuf, String)>,
    /// Folders and files for a build script to watch.
    pub watch: Vec<PathBuf>,
    /// Hash of the sources in hexadecimal: contents and places of the files, what the manifests say, versions of other crates.
    pub hash: String,
}

impl Sources {
    /// How the paths of the crate's files begin in the PTX; empty where that does not tell them from other crates'.
    pub(crate) fn folder_in_paths(&self) -> String {
        let folder = self.manifest.parent().unwrap_or(&self.manifest);
        let within = folder.strip_prefix(&self.workspace).ok();
        match within.filter(|path| !path.as_os_str().is_empty()) {
            Some(path) => format!("{}/", path.to_string_lossy().replace('\\', "/")),
            None => String::new(),
        }
    }

    /// Reads the crate in `folder`.
    ///
    /// # Errors
    /// [`BuildError::NoCrate`] when there is none, [`BuildError::Metadata`] when cargo cannot describe it,
    /// [`BuildError::Io`] when a file cannot be read.
    pub fn of(folder: &Path) -> Result<Sources, BuildError> {
        let manifest = folder.join("Cargo.toml");
        if !manifest.is_file() {
            return Err(BuildError::NoCrate {
                path: folder.to_owned(),
            });
        }
        let manifest = manifest.canonicalize().map_err(BuildError::io("read", &manifest))?;
        let metadata = describe(&manifest)?;
        let workspace = metadata.workspace_root.clone().into_std_path_buf();
        let packages = path_closure(&manifest, &metadata)?;
        let kernel = &packages[&manifest];

        let mut watch = vec![workspace.join("Cargo.toml"), workspace.join("Cargo.lock")];
        let mut elsewhere = Vec::new();
        let mut hash = Sha256::new();
        let mut in_order: Vec<_> = packages.iter().collect();
        in_order.sort_by_key(|(_, package)| package.name.to_string());
        for (manifest, package) in in_order {
            let folder = manifest.parent().unwrap_or(Path::new("."));
            if !folder.starts_with(&workspace) {
                elsewhere.push((folder.to_owned(), package.name.to_string()));
            }
            hash.update(declaration(package));
            let source = library(package).and_then(|target| target.src_path.as_std_path().parent());
            let source = source.map_or_else(|| folder.join("src"), Path::to_owned);
            let mut files = BTreeSet::new();
            collect(&source, &mut files)?;
            for file in &files {
                hash.update(format!("{} {}\n", package.name, relative(file, folder)));
                hash.update(Sha256::digest(text(file)?));
            }
            watch.extend([manifest.clone(), source]);
        }
        for line in locked(&packages, &workspace.join("Cargo.lock"))? {
            hash.update(line);
        }
        let modules = ModuleRequest::of(kernel)?;
        Ok(Sources {
            name: kernel.name.to_string(),
            library: library(kernel)
                .map_or(&*kernel.name, |target| &target.name)
                .replace('-', "_"),
            manifest,
            target: metadata.target_directory.clone().into_std_path_buf(),
            workspace,
            modules,
            elsewhere,
            watch,
            hash: hex(&hash.finalize()),
        })
    }
}

/// Bytes as lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hash of a text as manifests record it: SHA-256 in hexadecimal.
#[must_use]
pub fn digest(text: &str) -> String {
    hex(&Sha256::digest(text))
}

/// Writes a file, its folder created where needed.
pub(crate) fn write(file: &Path, text: &str) -> Result<(), BuildError> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(BuildError::io("create", folder))?;
    }
    fs::write(file, text).map_err(BuildError::io("write", file))
}

/// Only the workspace's own manifests are read, so nothing is fetched and nothing needs to have been.
fn describe(manifest: &Path) -> Result<Metadata, BuildError> {
    let answer = MetadataCommand::new()
        .manifest_path(manifest)
        .no_deps()
        .other_options(["--offline".to_owned()])
        .exec();
    answer.map_err(|error| BuildError::Metadata {
        path: manifest.to_owned(),
        problem: match error {
            cargo_metadata::Error::CargoMetadata { stderr } => stderr.trim().to_owned(),
            other => other.to_string(),
        },
    })
}

/// The package at `start` and every package that it reaches by path, by manifest.
fn path_closure(start: &Path, metadata: &Metadata) -> Result<BTreeMap<PathBuf, Package>, BuildError> {
    let mut found = BTreeMap::new();
    let mut known: BTreeMap<PathBuf, Package> = by_manifest(metadata);
    let mut waiting = vec![start.to_owned()];
    while let Some(manifest) = waiting.pop() {
        if found.contains_key(&manifest) {
            continue;
        }
        if !known.contains_key(&manifest) {
            known.extend(by_manifest(&describe(&manifest)?));
        }
        let package = known.get(&manifest).cloned().ok_or_else(|| BuildError::Metadata {
            path: manifest.clone(),
            problem: "it is a workspace without a package".to_owned(),
        })?;
        for dependency in needed(&package) {
            if let Some(path) = &dependency.path {
                let manifest = path.join("Cargo.toml").into_std_path_buf();
                waiting.push(manifest.canonicalize().map_err(BuildError::io("read", &manifest))?);
            }
        }
        found.insert(manifest, package);
    }
    Ok(found)
}

fn by_manifest(metadata: &Metadata) -> BTreeMap<PathBuf, Package> {
    let with_path = |package: &Package| {
        let manifest = package.manifest_path.clone().into_std_path_buf();
        (manifest.canonicalize().unwrap_or(manifest), package.clone())
    };
    metadata.packages.iter().map(with_path).collect()
}

fn needed(package: &Package) -> impl Iterator<Item = &cargo_metadata::Dependency> {
    package
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind != DependencyKind::Development)
}

/// The target that others link.
fn library(package: &Package) -> Option<&Target> {
    package.targets.iter().find(|target| {
        !(target.is_bin() || target.is_example() || target.is_test() || target.is_bench() || target.is_custom_build())
    })
}

/// What a manifest says that reaches the compiler: no lints, no tests, no formatting.
fn declaration(package: &Package) -> String {
    let mut lines = vec![format!("{} {} {:?}", package.name, package.version, package.edition)];
    lines.extend(
        package
            .features
            .iter()
            .map(|(name, parts)| format!("feature {name} {parts:?}")),
    );
    for dependency in needed(package) {
        lines.push(format!(
            "needs {} {:?} {:?} {} {} {}",
            dependency.name,
            dependency.rename,
            dependency.features,
            dependency.uses_default_features,
            dependency.optional,
            dependency.path.is_some()
        ));
    }
    lines[1..].sort();
    lines.join("\n") + "\n"
}

/// Versions and checksums of the crates that come from a registry.
fn locked(packages: &BTreeMap<PathBuf, Package>, lock: &Path) -> Result<BTreeSet<String>, BuildError> {
    #[derive(serde::Deserialize)]
    struct Lock {
        #[serde(default)]
        package: Vec<Locked>,
    }
    #[derive(serde::Deserialize)]
    struct Locked {
        name: String,
        version: String,
        checksum: Option<String>,
        #[serde(default)]
        dependencies: Vec<String>,
    }
    if !lock.is_file() {
        return Ok(BTreeSet::new());
    }
    let text = fs::read_to_string(lock).map_err(BuildError::io("read", lock))?;
    let parsed: Lock = toml::from_str(&text).map_err(|error| BuildError::Metadata {
        path: lock.to_owned(),
        problem: error.to_string(),
    })?;
    let mut waiting: Vec<String> = packages
        .values()
        .flat_map(needed)
        .filter(|d| d.path.is_none())
        .map(|d| d.name.clone())
        .collect();
    let mut seen = BTreeSet::new();
    while let Some(wanted) = waiting.pop() {
        // `name`, or `name version` where there are several.
        let mut words = wanted.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next());
        for entry in parsed
            .package
            .iter()
            .filter(|p| p.name == name && version.is_none_or(|v| p.version == v))
        {
            if seen.insert(format!("{} {} {:?}\n", entry.name, entry.version, entry.checksum)) {
                waiting.extend(entry.dependencies.iter().cloned());
            }
        }
    }
    Ok(seen)
}

fn collect(folder: &Path, files: &mut BTreeSet<PathBuf>) -> Result<(), BuildError> {
    for entry in fs::read_dir(folder).map_err(BuildError::io("read", folder))? {
        let path = entry.map_err(BuildError::io("read", folder))?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.insert(path);
        }
    }
    Ok(())
}

/// With `/` between the parts on every system, so that the hash is the same everywhere.
fn relative(path: &Path, root: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    inside
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect::<Vec<_>>()
        .join("/")
}

/// A file's bytes with line ends as `\n`: a checkout may have changed them.
fn text(file: &Path) -> Result<Vec<u8>, BuildError> {
    let mut bytes = fs::read(file).map_err(BuildError::io("read", file))?;
    let mut previous = 0;
    let carriage_returns: Vec<bool> = bytes.windows(2).map(|pair| pair == b"\r\n").collect();
    bytes.retain(|_| {
        let drop = carriage_returns.get(previous).copied().unwrap_or(false);
        previous += 1;
        !drop
    });
    Ok(bytes)
}
