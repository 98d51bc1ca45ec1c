//! Where the requests of one worker go in the zones of one device.

use super::{State, Zones};
use units::{Ddir, PerDdir};

/// What a worker does with a device.
#[derive(Clone, Debug)]
pub struct View {
    /// A number of the worker that no other has.
    pub worker: u32,
    /// Start of its region, bytes.
    pub offset: u64,
    /// Length of it.
    pub length: u64,
    /// Bytes of the file or device.
    pub size: u64,
    /// Smallest block of each direction, bytes.
    pub block: PerDdir<u64>,
    /// Offsets are random.
    pub random: bool,
    /// The job writes.
    pub writes: bool,
    /// Written zones are verified: none may be reset meanwhile.
    pub verifies: bool,
    /// Reads go where they want.
    pub read_beyond: bool,
    /// Most zones this worker may have open; 0: any number.
    pub most_open: u32,
    /// Share of the region that is filled before zones are reset.
    pub threshold: f64,
    /// Resets per write; 0: only full zones are reset.
    pub frequency: f64,
    /// Gap behind each zone of sequential jobs, bytes.
    pub skip: u64,
}

/// A request as the generator proposes it.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// What it does.
    pub ddir: Ddir,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// It is cut to so many bytes, wherever it goes.
    pub most: u64,
    /// Requests of this worker are in flight.
    pub flying: bool,
}

/// What becomes of a proposed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is issued here. A zone that is named is held until [`Walk::done`].
    Go {
        /// First byte.
        offset: u64,
        /// Bytes, at most those proposed.
        len: u64,
        /// The zone held.
        zone: Option<usize>,
    },
    /// Another worker is at work on the zone.
    Busy,
    /// Let everything in flight come back and ask again.
    Drain,
    /// Reset this zone, tell [`Zones::was_reset`], and ask again.
    Reset(usize),
    /// There is no place for it in this file.
    End,
    /// It is impossible.
    Fail(Misfit),
}

/// Why a request is impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// It is longer than a zone.
    Long {
        /// Bytes of the request.
        len: u64,
        /// Bytes of a zone.
        zone_bytes: u64,
    },
    /// A zone has no room for a block even when it is empty.
    Capacity {
        /// Bytes that can be written.
        capacity: u64,
        /// Smallest block.
        block: u64,
    },
    /// The write pointer lies outside of the region.
    Pointer(u64),
}

/// How a pass begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// Everything is ready.
    Ready,
    /// Another worker is at work on one of the zones.
    Busy,
    /// Reset this zone, tell [`Zones::was_reset`], and ask again.
    Reset(usize),
}

/// How far the way of a request into a zone has been gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing is decided.
    Fresh,
    /// Another zone than this one is to be opened; zones had to be left to close before.
    Other(usize),
    /// It writes to this zone, which is held.
    Chosen(usize),
}

/// One worker in the zones of one device.
#[derive(Clone, Debug)]
pub struct Walk {
    view: View,
    /// Zones of the region: the first, and the first that is not.
    first: usize,
    last: usize,
    stage: Stage,
    /// Zones that this worker has opened and that are still open.
    opened: u32,
    /// Bytes moved since the last change of zones, for `skip`.
    in_zone: u64,
}

impl Walk {
    /// A worker that has not begun. Its region lies in the zones.
    pub fn new(view: View, zones: &Zones) -> Walk {
        Walk {
            first: zones.index(view.offset),
            last: zones.index(view.offset.saturating_add(view.length)),
            view,
            stage: Stage::Fresh,
            opened: 0,
            in_zone: 0,
        }
    }

    /// Whether the job writes.
    pub fn writes(&self) -> bool {
        self.view.writes
    }

    /// Its smallest write, bytes.
    pub fn write_block(&self) -> u64 {
        self.view.block[Ddir::Write].max(1)
    }

    /// Opens a zone that the device calls open; false if that would be too many.
    pub fn adopt(&mut self, zones: &mut Zones, index: usize) -> bool {
        !(self.first..self.last).contains(&index) || self.open(zones, index)
    }

    /// Looks at the region before a pass. What is to be verified is written to empty zones.
    pub fn begin(&mut self, zones: &mut Zones) -> Begin {
        self.in_zone = 0;
        if !self.view.writes {
            return Begin::Ready;
        }
        for index in self.first..self.last {
            if !self.view.verifies || !zones.states[index].zone.sequential {
                continue;
            }
            if zones.is_taken(index, self.view.worker) {
                return Begin::Busy;
            }
            self.close(zones, index);
            if zones.states[index].filled() > 0 {
                return Begin::Reset(index);
            }
        }
        let sum = |all: bool| {
            let region = zones.states[self.first..self.last].iter();
            let counted = region.filter(|state| all || state.zone.sequential);
            counted.map(State::filled).sum::<u64>()
        };
        (zones.filled, zones.filled_sequential) = (sum(true), sum(false));
        self.count_down(zones);
        Begin::Ready
    }

    fn count_down(&self, zones: &mut Zones) {
        zones.writes_left = match self.view.frequency {
            0.0 => u32::MAX,
            // Cut off, at the largest number too.
            share => (1.0 / share) as u32,
        };
    }

    /// In a mix of reads and writes: there must be something before it can be read.
    pub fn direction(&self, zones: &Zones, drawn: Ddir) -> Ddir {
        match drawn {
            Ddir::Read if zones.filled == 0 && !self.view.read_beyond => Ddir::Write,
            drawn => drawn,
        }
    }

    /// Where sequential requests of a direction go on: `position`, in a region that now starts
    /// at `base`.
    pub fn go_on(&mut self, zones: &Zones, ddir: Ddir, position: &mut u64, base: &mut u64) {
        if self.view.random {
            return;
        }
        let state = zones.states.get(zones.index(*position));
        if let Some(state) = state
            && state.zone.capacity < zones.zone_bytes
            && ddir == Ddir::Write
            && *position >= state.end()
        {
            *position = state.zone.start + zones.zone_bytes;
        }
        if self.view.skip == 0 {
            return;
        }
        let over = state.is_none_or(|state| {
            *position >= state.zone.start + zones.zone_bytes
                || (ddir == Ddir::Read && !self.view.read_beyond && *position >= state.zone.pointer)
        });
        if over || self.in_zone >= zones.zone_bytes {
            self.in_zone = 0;
            *base = base.saturating_add(zones.zone_bytes + self.view.skip);
            if *base >= self.view.size {
                *base = self.view.offset;
            }
            *position = *base;
        }
    }

    /// Where a request goes. Asked again after [`Verdict::Busy`], [`Verdict::Drain`] and
    /// [`Verdict::Reset`], it goes on from what was found out.
    pub fn step(&mut self, zones: &mut Zones, ask: Ask) -> Verdict {
        let mut verdict = self.place(zones, ask).unwrap_or_else(|verdict| verdict);
        match &mut verdict {
            Verdict::Go { len, .. } => {
                *len = (*len).min(ask.most);
                self.in_zone += *len;
                self.stage = Stage::Fresh;
            }
            Verdict::End | Verdict::Fail(_) => self.abandon(zones),
            Verdict::Busy | Verdict::Drain | Verdict::Reset(_) => {}
        }
        verdict
    }

    /// The request that held a zone has come back; `end`: where it ended, if it was a write that
    /// succeeded. True if the device should finish the zone, because no block fits any more.
    pub fn done(&mut self, zones: &mut Zones, index: usize, end: Option<u64>) -> bool {
        if end.is_some_and(|end| end >= zones.states[index].end()) {
            self.close(zones, index);
        }
        zones.release(index);
        let state = &zones.states[index];
        let rest = state.end().saturating_sub(state.zone.pointer);
        let finishes = zones.managed
            && end.is_some()
            && state.held == 0
            && (1..self.view.block[Ddir::Write]).contains(&rest);
        if finishes {
            self.close(zones, index);
        }
        finishes
    }

    #[cfg(test)]
    pub(super) fn is_fresh(&self) -> bool {
        self.stage == Stage::Fresh
    }

    /// Gives up what was being decided.
    pub fn abandon(&mut self, zones: &mut Zones) {
        if let Stage::Chosen(zone) = std::mem::replace(&mut self.stage, Stage::Fresh) {
            zones.release(zone);
        }
    }

    fn close(&mut self, zones: &mut Zones, index: usize) {
        if zones.close(index) {
            self.opened = self.opened.saturating_sub(1);
        }
    }

    fn place(&mut self, zones: &mut Zones, ask: Ask) -> Result<Verdict, Verdict> {
        let at = zones.index(ask.offset);
        let Some(state) = zones.states.get(at) else {
            return Err(Verdict::End);
        };
        let (sequential, offline) = (state.zone.sequential, state.zone.offline);
        let beyond = ask.ddir == Ddir::Read && self.view.read_beyond && !offline;
        if !sequential && ask.ddir == Ddir::Write {
            return Ok(self.beside(zones, at, ask));
        }
        if !sequential || beyond {
            return Ok(go(ask.offset, ask.len, None));
        }
        self.free(zones, at)?;
        match ask.ddir {
            Ddir::Read => self.read(zones, at, ask),
            Ddir::Write => self.write(zones, at, ask),
            _ => self.trim(zones, at, ask),
        }
    }

    fn free(&self, zones: &Zones, index: usize) -> Result<(), Verdict> {
        match zones.is_taken(index, self.view.worker) {
            true => Err(Verdict::Busy),
            false => Ok(()),
        }
    }

    fn hold(&self, zones: &mut Zones, index: usize, offset: u64, len: u64) -> Verdict {
        zones.hold(index, self.view.worker);
        go(offset, len, Some(index))
    }

    fn is_inside(&self, offset: u64) -> bool {
        offset.wrapping_sub(self.view.offset) < self.view.length
    }

    /// A write to a zone without order must not reach into one that has it.
    fn beside(&self, zones: &Zones, at: usize, ask: Ask) -> Verdict {
        let (start, end) = (zones.states[at].zone.start, zones.end(at));
        let ordered = |state: &State| state.zone.sequential;
        if !zones.states.get(at + 1).is_some_and(ordered) || ask.offset + ask.len <= end {
            return go(ask.offset, ask.len, None);
        }
        let block = self.view.block[Ddir::Write];
        let offset = match ask.offset + block > end {
            true => start + (end - ask.offset),
            false => ask.offset,
        };
        let len = ask.len.min(end - offset) / block * block;
        go(offset, len, None)
    }

    fn read(&self, zones: &mut Zones, at: usize, ask: Ask) -> Result<Verdict, Verdict> {
        let block = self.view.block[Ddir::Read];
        let (mut zone, mut offset) = (at, ask.offset);
        let state = &zones.states[at];
        let filled = if state.zone.offline {
            0
        } else {
            state.filled()
        };
        let behind = !self.view.random && offset + block > state.zone.pointer;
        if filled < block || behind {
            zone = self.find(zones, at, block)?.ok_or(Verdict::End)?;
            if !self.view.random {
                offset = zones.states[zone].zone.start;
            }
        }
        let state = &zones.states[zone];
        let (start, filled) = (state.zone.start, state.filled());
        if filled <= ask.len {
            offset = start;
        } else if self.view.random {
            let into = offset - zones.states[at].zone.start;
            offset = start + into % (filled - ask.len) / block * block;
        }
        if !state.zone.sequential {
            return Ok(go(offset, ask.len, None));
        }
        let len = ask.len.min(state.zone.pointer - offset) / block * block;
        Ok(self.hold(zones, zone, offset, len))
    }

    /// The next zone with so many bytes to read: behind this one, or around it for random jobs.
    fn find(&self, zones: &Zones, at: usize, bytes: u64) -> Result<Option<usize>, Verdict> {
        let holds = |index: usize| -> Result<bool, Verdict> {
            let state = &zones.states[index];
            if state.zone.sequential {
                self.free(zones, index)?;
            }
            Ok(state.filled() >= bytes)
        };
        let usable = |index: usize| !zones.states[index].zone.offline;
        for by in 1.. {
            let (up, down) = (at + by, at.checked_sub(by).filter(|i| *i >= self.first));
            if up >= self.last && down.is_none() {
                break;
            }
            if up < self.last && usable(up) {
                if holds(up)? {
                    return Ok(Some(up));
                }
            } else if !self.view.random {
                break;
            }
            if let Some(down) = down.filter(|i| self.view.random && usable(*i))
                && holds(down)?
            {
                return Ok(Some(down));
            }
        }
        Ok(None)
    }

    fn trim(&self, zones: &mut Zones, at: usize, ask: Ask) -> Result<Verdict, Verdict> {
        let state = &zones.states[at];
        if !ask.ddir.is_data() {
            return Ok(go(ask.offset, ask.len, None));
        }
        if !self.view.random || state.filled() > 0 {
            return Ok(self.hold(zones, at, ask.offset, ask.len));
        }
        let zone = self.find(zones, at, 1)?.ok_or(Verdict::End)?;
        let start = zones.states[zone].zone.start;
        match zones.states[zone].zone.sequential {
            true => Ok(self.hold(zones, zone, start, ask.len)),
            false => Ok(go(start, ask.len, None)),
        }
    }

    fn write(&mut self, zones: &mut Zones, at: usize, ask: Ask) -> Result<Verdict, Verdict> {
        let zone = match self.stage {
            Stage::Chosen(zone) => zone,
            stage => {
                if ask.len > zones.zone_bytes {
                    let (len, zone_bytes) = (ask.len, zones.zone_bytes);
                    return Err(Verdict::Fail(Misfit::Long { len, zone_bytes }));
                }
                let zone = match stage {
                    Stage::Other(from) => self.other(zones, from)?,
                    _ if self.open(zones, at) => at,
                    _ => self.convert(zones, ask)?,
                };
                zones.hold(zone, self.view.worker);
                self.stage = Stage::Chosen(zone);
                self.count_write(zones, zone);
                zone
            }
        };
        self.write_to(zones, zone, ask)
    }

    /// `zone_reset_frequency`: every so many writes a zone is reset, once enough is filled.
    fn count_write(&self, zones: &mut Zones, zone: usize) {
        let enough = self.view.length as f64 * self.view.threshold;
        if self.view.frequency == 0.0 || (zones.filled_sequential as f64) < enough {
            return;
        }
        zones.writes_left = zones.writes_left.saturating_sub(1);
        if zones.writes_left == 0 {
            self.count_down(zones);
            zones.states[zone].due = true;
        }
    }

    /// A write to a zone that is held.
    fn write_to(&self, zones: &mut Zones, zone: usize, ask: Ask) -> Result<Verdict, Verdict> {
        let block = self.view.block[Ddir::Write];
        let state = &mut zones.states[zone];
        if state.due || state.is_full(block) {
            if ask.flying {
                return Err(Verdict::Drain);
            }
            state.due = false;
            if state.filled() > 0 {
                return Err(Verdict::Reset(zone));
            }
            if state.zone.capacity < block {
                let capacity = state.zone.capacity;
                return Err(Verdict::Fail(Misfit::Capacity { capacity, block }));
            }
        }
        let (offset, end) = (state.zone.pointer, state.end());
        if !self.is_inside(offset) {
            return Err(Verdict::Fail(Misfit::Pointer(offset)));
        }
        let len = (ask.len.min(end - offset) / block * block).min(ask.most);
        zones.moved(zone, offset + len);
        Ok(go(offset, len, Some(zone)))
    }

    /// Puts a zone on the list of open ones; false if it may not be written now.
    fn open(&mut self, zones: &mut Zones, index: usize) -> bool {
        let state = &zones.states[index];
        if state.zone.offline {
            return false;
        }
        if self.view.verifies && state.is_full(self.view.block[Ddir::Write]) {
            return false;
        }
        if zones.most_open == 0 {
            return true;
        }
        if state.listed {
            // One that what is in flight will fill is as good as full.
            return state.zone.pointer < state.end();
        }
        let (mine, all) = (self.view.most_open, zones.most_open);
        if (mine > 0 && self.opened >= mine) || zones.listed >= all as usize {
            return false;
        }
        zones.list[zones.listed] = index as u32;
        zones.listed += 1;
        zones.states[index].listed = true;
        self.opened += 1;
        true
    }

    /// A zone that may be written, in place of one that may not: an open one, chosen by the
    /// offset, or the next that can be opened.
    fn convert(&mut self, zones: &mut Zones, ask: Ask) -> Result<usize, Verdict> {
        let limited = zones.most_open > 0 || self.view.most_open > 0;
        let drawn = {
            let into = u128::from(ask.offset.wrapping_sub(self.view.offset));
            (into * zones.listed as u128 / u128::from(self.view.length)) as usize
        };
        let start = match limited {
            true => zones.list[drawn] as usize,
            false => zones.index(ask.offset),
        };
        let mut zone = start.clamp(self.first, self.last - 1);
        let state = &zones.states[zone];
        if state.zone.sequential {
            self.free(zones, zone)?;
        }
        let open = match state.zone.sequential {
            true if !limited && !state.zone.offline => Some(zone),
            true if zones.listed == 0 => None,
            _ => {
                let region = self.first..self.last;
                let listed = (0..zones.listed).map(|by| (drawn + by) % zones.listed);
                let mut listed = listed.map(|at| zones.list[at] as usize);
                let found = listed.find(|listed| region.contains(listed));
                zone = found.ok_or(Verdict::End)?;
                self.free(zones, zone)?;
                Some(zone)
            }
        };
        let block = self.view.block[Ddir::Write];
        if let Some(open) = open.filter(|open| !zones.states[*open].is_full(block)) {
            return Ok(open);
        }
        let all_open = zones.listed == self.last - self.first
            || (zones.most_open > 0 && zones.listed == zones.most_open as usize)
            || (self.view.most_open > 0 && self.opened == self.view.most_open);
        if all_open && ask.flying {
            self.stage = Stage::Other(zone);
            return Err(Verdict::Drain);
        }
        self.other(zones, zone)
    }

    /// The next zone behind `from` that can be opened, or else an open one with room.
    fn other(&mut self, zones: &mut Zones, from: usize) -> Result<usize, Verdict> {
        self.stage = Stage::Other(from);
        let mut zone = from;
        for _ in 0..self.view.length / zones.zone_bytes {
            zone += 1;
            let start = zones.states.get(zone).map(|state| state.zone.start);
            if !start.is_some_and(|start| self.is_inside(start)) {
                zone = self.first;
            }
            if !zones.states[zone].zone.sequential {
                continue;
            }
            self.free(zones, zone)?;
            if !zones.states[zone].listed && self.open(zones, zone) {
                return Ok(zone);
            }
        }
        for at in 0..zones.listed {
            let zone = zones.list[at] as usize;
            if !(self.first..self.last).contains(&zone) {
                continue;
            }
            self.free(zones, zone)?;
            if !zones.states[zone].is_full(self.view.block[Ddir::Write]) {
                return Ok(zone);
            }
        }
        Err(Verdict::End)
    }
}

fn go(offset: u64, len: u64, zone: Option<usize>) -> Verdict {
    Verdict::Go { offset, len, zone }
}
