//! Block sizes and alignment.

use crate::kinds::BlockSplit;
use units::{PerDdir, Range};

option::options! {
    /// Block sizes and alignment
    pub struct Block {
        /// Bytes per request, by direction.
        ///
        /// `8k` is for all directions, `8k,32k` for reads and for writes and trims, `8k,`
        /// for reads only.
        bs: PerDdir<u64> = "4096", aliases(&["blocksize"]), at_least(1), bytes(), parent("rw");
        /// Bytes per request as a range, by direction; multiples of the lower bound.
        bsrange: PerDdir<Option<Range<u64>>>, aliases(&["blocksize_range"]), at_least(1),
            parent("rw");
        /// Weighted block sizes, `size/percent:size/percent`, by direction.
        ///
        /// Entries without a percentage share what the others leave.
        bssplit: PerDdir<BlockSplit>, parent("rw");
        /// Allow any number of bytes within `bsrange`.
        bs_unaligned: bool, aliases(&["blocksize_unaligned"]), bare(), parent("rw");
        /// Use the read size for sequential and the write size for random requests.
        bs_is_seq_rand: bool = "0", parent("bs");
        /// Alignment of random offsets, by direction; the smallest block size by default.
        ///
        /// Any other value turns the random map off.
        ba: PerDdir<Option<u64>>, aliases(&["blockalign"]), at_least(1), bytes(), parent("rw");
    }
}
