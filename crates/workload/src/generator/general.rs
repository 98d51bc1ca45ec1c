//! The rules for every kind of job, one request at a time, in fio's order of decisions: file,
//! synchronisation, direction, zone, offset, size, map.

use super::Requests;
use super::files::NOWHERE;
use crate::batch::{Amended, Batch, HandsOff, Steer};
use crate::spec::{FileServiceKind, FioRules, RwSequencer, Spec, Strided};
use units::Ddir;

/// One request before it is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    offset: u64,
    len: u64,
    ddir: Ddir,
}

/// Where a request starts, from the start of its region.
struct Place {
    offset: u64,
    /// Counts as random for `bs_is_seq_rand`.
    random: bool,
    /// The block to mark in the map, if the request is of the kind that is marked.
    block: Option<u64>,
}

impl Place {
    fn sequential(offset: u64) -> Self {
        Place {
            offset,
            random: false,
            block: None,
        }
    }
}

/// The coin of the mixed modes: after a change of direction, enough requests go the new way
/// to restore the ratio before the coin is thrown again.
#[derive(Clone, Debug)]
pub(super) struct Mix {
    percent: [u64; 2],
    direction: usize,
    until: u64,
}

impl Mix {
    pub(super) fn new(read_percent: u32) -> Self {
        let read = u64::from(read_percent);
        Mix {
            percent: [read, 100 - read],
            direction: 0,
            until: 0,
        }
    }

    pub(super) fn restart(&mut self) {
        self.until = 0;
    }

    /// Goes on in this direction, whatever the coin said.
    fn turn(&mut self, ddir: Ddir) {
        self.direction = ddir.index();
    }

    /// 0 to read, 1 to write.
    #[inline(always)]
    pub(super) fn next(&mut self, issues: &[u64; 3], rand: &mut crate::rng::Taus88) -> usize {
        if issues[self.direction] >= self.until {
            let drawn = usize::from(u64::from(rand.percent()) > self.percent[0]);
            if drawn != self.direction {
                self.until = issues[self.direction] * self.percent[drawn] / 100;
                self.direction = drawn;
            }
        }
        self.direction
    }
}

/// Synchronisation after every so many writes. By the rules of fio 3.33 it is repeated after
/// each read that follows such a write.
#[derive(Clone, Debug)]
pub(super) struct Syncs {
    /// Kind, writes between two (0 for never), and writes since the last one.
    every: [(Ddir, u32, u32); 3],
    /// What the number of writes asks for.
    reached: Option<Ddir>,
    /// Due before the next request.
    due: Option<Ddir>,
    after_reads: bool,
}

impl Syncs {
    pub(super) fn new(spec: &Spec) -> Self {
        let every = [
            (Ddir::Sync, spec.fsync, 0),
            (Ddir::DataSync, spec.fdatasync, 0),
            (Ddir::SyncFileRange, spec.sync_file_range, 0),
        ];
        Syncs {
            every,
            reached: None,
            due: None,
            after_reads: spec.rules == FioRules::V3_33,
        }
    }

    pub(super) fn any(&self) -> bool {
        self.every.iter().any(|&(_, every, _)| every > 0)
    }

    /// Counts a read, write or trim.
    #[inline]
    fn count(&mut self, ddir: Ddir) {
        if ddir == Ddir::Write {
            self.reached = None;
            for (kind, every, since) in &mut self.every {
                if *every > 0 {
                    *since += 1;
                    if since == every {
                        *since = 0;
                        self.reached = self.reached.or(Some(*kind));
                    }
                }
            }
        }
        let asks = self.after_reads || ddir == Ddir::Write;
        self.due = self.reached.filter(|_| asks);
    }
}

#[inline(always)]
fn store(batch: &mut Batch, i: usize, file: usize, request: &Request) {
    batch.offset[i] = request.offset;
    // Block sizes have been checked to fit.
    batch.len[i] = request.len as u32;
    batch.ddir[i] = request.ddir;
    batch.file[i] = file as u16;
}

impl Requests {
    /// Up to `want` requests.
    pub(super) fn general(&mut self, batch: &mut Batch, want: usize) -> usize {
        for i in 0..want {
            let Some((file, request)) = self.next(&mut HandsOff) else {
                return i;
            };
            store(batch, i, file, &request);
        }
        want
    }

    /// One request with somebody at its side.
    pub(super) fn steered(&mut self, batch: &mut Batch, steer: &mut dyn Steer) -> usize {
        (self.last, self.unmarked) = (None, None);
        let Some((file, request)) = self.next(steer) else {
            return 0;
        };
        store(batch, 0, file, &request);
        if request.ddir.is_data() {
            self.last = Some((file, request));
        }
        1
    }

    /// The last request has become another one, or has found no place in its file.
    pub(super) fn amended(&mut self, became: Option<Amended>) {
        let Some((at, request)) = self.last.take() else {
            return;
        };
        let d = request.ddir.index();
        let progress = &mut self.progress;
        let file = &mut self.files[at];
        let len = became.map_or(0, |became| u64::from(became.len));
        progress.bytes[d] = progress.bytes[d] - request.len + len;
        progress.pass_bytes = progress.pass_bytes - request.len + len;
        match became {
            Some(Amended { offset, .. }) => {
                file.previous[d] = offset;
                file.position[d] = offset + len;
                if let (Some(block), Some(map)) = (self.unmarked.take(), &mut file.map) {
                    map.set_run(block, self.sizes[d].blocks(len));
                }
            }
            None => {
                progress.issues[d] -= 1;
                self.service.finish(file);
                // Popular files do not end, but here they have.
                progress.ended |= !file.is_done();
            }
        }
    }

    fn finished(&self) -> bool {
        let progress = &self.progress;
        !self.spec.time_based
            && (progress.pass_bytes >= progress.pass_limit
                || progress.counted(self.spec.direction) >= progress.total_limit
                || progress.issues.iter().sum::<u64>() >= progress.number_ios)
    }

    fn next(&mut self, steer: &mut (impl Steer + ?Sized)) -> Option<(usize, Request)> {
        if self.finished() {
            return None;
        }
        // Blocks of requests that are not random are not marked. That holds on for further
        // attempts on other files, as in fio.
        let mut unmarked = false;
        loop {
            let file = self.service.next(&mut self.files, &mut self.streams.file)?;
            if let Some(ddir) = self.syncs.due.take() {
                return Some((file, self.sync(file, ddir)));
            }
            let ddir = self.direction(file, steer);
            let state = &mut self.files[file];
            let position = &mut state.position[ddir.index()];
            steer.go_on(file, ddir, position, &mut state.base);
            if let Some(request) = self.data(file, ddir, &mut unmarked, steer) {
                self.account(file, &request);
                return Some((file, request));
            }
            self.service.finish(&mut self.files[file]);
        }
    }

    fn sync(&mut self, file: usize, ddir: Ddir) -> Request {
        let written = self.files[file].written.take();
        let (offset, len) = match (ddir, written) {
            (Ddir::SyncFileRange, Some((first, end))) => (first, end - first),
            _ => (0, 0),
        };
        // A range that 32 bits cannot hold becomes "to the end of the file".
        Request {
            offset,
            len: if len > u64::from(u32::MAX) { 0 } else { len },
            ddir,
        }
    }

    fn direction(&mut self, file: usize, steer: &mut (impl Steer + ?Sized)) -> Ddir {
        let direction = self.spec.direction;
        if direction.is_mixed() {
            let coin = self.mix.next(&self.progress.issues, &mut self.streams.mix);
            let ddir = steer.choose(Ddir::DATA[coin]);
            self.mix.turn(ddir);
            steer.divert(file, ddir)
        } else if direction.is_trim_write() {
            let previous = &self.files[file].previous;
            let paired = previous[Ddir::Write.index()] == previous[Ddir::Trim.index()];
            if paired { Ddir::Trim } else { Ddir::Write }
        } else if direction.reads() {
            Ddir::Read
        } else if direction.writes() {
            Ddir::Write
        } else {
            Ddir::Trim
        }
    }

    fn account(&mut self, file: usize, request: &Request) {
        let d = request.ddir.index();
        let end = request.offset + request.len;
        let file = &mut self.files[file];
        file.previous[d] = request.offset;
        file.position[d] = end;
        if request.ddir == Ddir::Write {
            let (first, last) = file.written.unwrap_or((request.offset, end));
            file.written = Some((first.min(request.offset), last.max(end)));
        }
        self.progress.issues[d] += 1;
        self.progress.bytes[d] += request.len;
        self.progress.pass_bytes += request.len;
        self.syncs.count(request.ddir);
    }

    /// A read, write or trim in `file`, or `None` if the file has none left.
    fn data(
        &mut self,
        file: usize,
        ddir: Ddir,
        unmarked: &mut bool,
        steer: &mut (impl Steer + ?Sized),
    ) -> Option<Request> {
        let d = ddir.index();
        if let Some(zone) = self.spec.strided {
            self.stride(file, d, zone);
        }
        let place = self.place(file, d, unmarked)?;
        let state = &mut self.files[file];
        if place.offset >= state.length {
            return None;
        }
        let offset = place
            .offset
            .checked_add(state.base)
            .filter(|&offset| offset < state.size)?;
        let pairs = self.spec.direction.is_trim_write() && self.spec.direction.is_random();
        let trim = Ddir::Trim.index();
        if pairs && ddir == Ddir::Trim && state.previous[trim] == offset {
            // The same place twice in a row: the pair must not look complete already.
            let write = &mut state.previous[Ddir::Write.index()];
            *write = write.wrapping_sub(1);
        }
        let room = state.end().saturating_sub(offset);
        let mut len = if pairs && ddir == Ddir::Write {
            state.position[trim] - state.previous[trim]
        } else {
            let slot = match self.spec.bs_is_seq_rand {
                true => usize::from(place.random),
                false => d,
            };
            self.sizes[slot].next(&mut self.streams.size[slot], room)?
        };
        if len == 0 || offset.checked_add(len).is_none_or(|end| end > state.size) {
            return None;
        }
        if let (Some(block), Some(map), false) = (place.block, &mut state.map, *unmarked) {
            let size = &self.sizes[d];
            let count = size.blocks(len);
            if steer.cuts() {
                steer.cut(map.free_run(block, count) * size.min);
                self.unmarked = Some(block);
            } else {
                len = len.min(map.set_run(block, count) * size.min);
            }
        }
        if let Some(zone) = self.spec.strided {
            self.zone_bytes += len;
            self.zone_phase += len;
            while self.zone_phase >= zone.range {
                self.zone_phase -= zone.range;
            }
        }
        Some(Request { offset, len, ddir })
    }

    /// Moves on to the next zone when this one has had its bytes.
    fn stride(&mut self, file: usize, d: usize, zone: Strided) {
        let file = &mut self.files[file];
        if self.zone_bytes >= zone.size {
            self.zone_bytes = 0;
            self.zone_phase = 0;
            file.base = file
                .base
                .saturating_add(zone.range)
                .saturating_add(zone.skip);
            if file.base >= file.size {
                file.base = file.start;
            }
            file.position[d] = file.base;
        }
        if file.position[d] >= file.base.saturating_add(zone.range) {
            file.position[d] = file.base;
        }
        if self.zone_phase == 0 {
            file.reset();
        }
    }

    /// Where the next request of direction `d` starts.
    fn place(&mut self, file: usize, d: usize, unmarked: &mut bool) -> Option<Place> {
        let direction = self.spec.direction;
        self.seq_left -= 1;
        let anew = self.seq_left == 0;
        if anew {
            self.seq_left = self.spec.sequence_count;
        }
        if direction.is_random() && direction.is_trim_write() && d == Ddir::Write.index() {
            *unmarked = true;
            let file = &self.files[file];
            let offset = file.previous[Ddir::Trim.index()].wrapping_sub(file.base);
            return Some(Place {
                offset,
                random: true,
                block: None,
            });
        }
        if !direction.is_random() {
            return self.ascend(file, d).map(Place::sequential);
        }
        let align = self.align[d];
        if anew {
            if self.draws_random(d) {
                let block = self.random_block(file, d)?;
                let offset = block.wrapping_mul(align);
                return Some(Place {
                    offset,
                    random: true,
                    block: Some(block),
                });
            }
        } else if self.spec.rw_sequencer == RwSequencer::Identical {
            *unmarked = true;
            let file = &self.files[file];
            let same = match file.previous[d] {
                NOWHERE => 0,
                previous => previous.wrapping_sub(file.base),
            };
            return Some(Place::sequential(same));
        }
        *unmarked = true;
        if let Some(offset) = self.ascend(file, d) {
            return Some(Place::sequential(offset));
        }
        let block = self.random_block(file, d)?;
        Some(Place::sequential(block.wrapping_mul(align)))
    }

    /// Whether this request of a random job is random (`percentage_random`).
    fn draws_random(&mut self, d: usize) -> bool {
        let percent = self.spec.percentage_random.0[d];
        percent == 100 || self.streams.sequential_or_random[d].percent() <= percent
    }

    /// The offset after the last request, from the start of the region.
    fn ascend(&mut self, file: usize, d: usize) -> Option<u64> {
        let one_file = self.files.len() == 1;
        let spec = &self.spec;
        let file = &mut self.files[file];
        let around = (spec.time_based && one_file)
            || (spec.rules == FioRules::V3_42
                && spec.direction.is_mixed()
                && spec.io_size > spec.size);
        if around && file.position[d] >= file.end() {
            file.position[d] = file.base;
        }
        if file.position[d] >= file.size {
            return None;
        }
        let add = spec.sequence_add;
        let far_end = file.length.min(file.size);
        if add < 0 && file.base > 0 && file.position[d] == file.base {
            file.position[d] = far_end;
        }
        let mut offset = file.position[d].wrapping_sub(file.base);
        if offset != 0 && add != 0 {
            offset = offset.wrapping_add_signed(add);
            if offset >= file.size {
                // Beyond the end, or below 0.
                offset = match add > 0 {
                    true => file.base,
                    false => far_end.wrapping_add_signed(add),
                };
            }
        }
        Some(offset)
    }

    /// A random block; a region that is used up starts over where the run is bounded by time, or
    /// where some files are more popular than others.
    fn random_block(&mut self, file: usize, d: usize) -> Option<u64> {
        self.draw_block(file, d).or_else(|| {
            let popular = self.spec.file_service.kind == FileServiceKind::Skewed;
            if !self.spec.time_based && !popular {
                return None;
            }
            self.files[file].reset();
            self.draw_block(file, d)
        })
    }

    fn draw_block(&mut self, file: usize, d: usize) -> Option<u64> {
        let file = &mut self.files[file];
        if let Some(skew) = &mut file.skew {
            return Some(skew.next());
        }
        let (mut first, mut count) = (0, file.last[d]);
        if count == 0 {
            return None;
        }
        if let Some(zones) = &self.zones[d] {
            let span = zones.next(&mut self.streams.zone, count)?;
            (first, count) = (span.first, span.count);
        }
        let block = match &mut file.lfsr {
            Some(lfsr) => lfsr.draw()?,
            None => self.streams.offset.below(count as f64),
        };
        match &file.map {
            Some(map) if map.is_set(block) => map.next_free(block),
            _ => Some(block + first),
        }
    }
}
