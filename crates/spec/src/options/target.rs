//! Files and devices: which they are and how they are made.

use crate::kinds::{FadviseHint, Fallocate, FileLock, FileService, FileType, WriteHint};
use option::Names;

option::options! {
    /// Target files and devices
    pub struct Target {
        /// Files or devices to use, separated by `:`; `\:` is a colon in a name.
        ///
        /// All clones of a job share them. Names given again, also after those of the global
        /// section, are added. Overrides `nrfiles`. Generated from
        /// `filename_format` when not given.
        filename: Option<Names>, prio(-1), adds();
        /// Directories for relative and generated names, separated by `:`.
        ///
        /// Several directories are dealt out to the clones in turn.
        directory: Option<Names>;
        /// Template of generated names: `$jobname`, `$jobnum`, `$filenum`, `$clientuid`.
        filename_format: String = "$jobname.$jobnum.$filenum", prio(-1);
        /// Prefix generated names with the client's address in client/server runs.
        unique_filename: bool = "1", later("runs over several hosts");
        /// Type that every file is expected to have.
        ///
        /// Unlike fio, which then does not look, this is checked.
        filetype: FileType = "none";
        /// Use every file found below this directory.
        opendir: Option<String>;
        /// Serialise I/O to a file between jobs.
        lockfile: FileLock = "none", prio(1), parent("filename");
        /// Number of files per job; `size` is divided over them.
        nrfiles: u32 = "1", aliases(&["nr_files"]);
        /// Most files open at once; all of them by default.
        openfiles: Option<u32>;
        /// Which file the next request goes to.
        file_service_type: FileService = "roundrobin", parent("nrfiles");
        /// Elevator to set on the backing device.
        ioscheduler: Option<String>;
        /// Lay out the files of different jobs one after the other.
        create_serialize: bool = "1";
        /// Flush each file after its layout.
        create_fsync: bool = "1";
        /// Create files when they are opened for I/O instead of beforehand.
        create_on_open: bool = "0";
        /// Stop after the layout.
        create_only: bool = "0";
        /// Create files that do not exist; 0 makes a missing file an error.
        allow_file_create: bool = "1";
        /// Permit writing to a device that is in use.
        ///
        /// Unlike fio, a device counts as in use when it, a part of it or a device above it
        /// is mounted, is swap, or has a holder.
        allow_mounted_write: bool = "0";
        /// Read the files into the page cache before the run.
        pre_read: bool = "0";
        /// Delete the job's files at the end.
        unlink: bool = "0";
        /// Delete the job's files after each loop.
        unlink_each_loop: bool = "0";
        /// How space is reserved when a file is laid out.
        fallocate: Fallocate = "native";
        /// What the kernel is told about the coming accesses.
        fadvise_hint: FadviseHint = "1";
        /// Drop the cached pages of the target range before the run.
        invalidate: bool = "1";
        /// Lay out the full file first, so that writes overwrite real blocks.
        overwrite: bool = "0";
        /// Begin at the end of an existing file.
        file_append: bool = "0";
        /// Write until the device or file system is full, which is no error then.
        fill_device: bool = "0", aliases(&["fill_fs"]);
        /// Expected lifetime of written data.
        write_hint: WriteHint = "none";
    }
}
