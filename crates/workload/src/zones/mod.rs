//! `zonemode=zbd`: requests that keep to the rules of zoned devices, as fio places them.
//!
//! A generator proposes a request; [`Walk::step`] says where it goes: a write to the write pointer
//! of a zone that may be written, a read to what has been written, a trim to a zone that holds
//! something. [`Zones`] is the state of one device, shared by all workers that use it; the caller
//! sees to it that one worker at a time works on it, and carries out the resets it is told.
//!
//! A zone with requests in flight belongs to their worker: others are told [`Verdict::Busy`].

mod walk;

pub use walk::{Ask, Begin, Misfit, Verdict, View, Walk};

/// Zones that can be tracked as open, fio's limit.
pub const MOST_OPEN: usize = 4096;

/// A zone as the device reports it, or as the options describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// First byte.
    pub start: u64,
    /// Bytes that can be written.
    pub capacity: u64,
    /// The next byte to be written; the end of what can be written where there is no such thing.
    pub pointer: u64,
    /// Must be written in order.
    pub sequential: bool,
    /// The device calls it open.
    pub open: bool,
    /// It can neither be read nor written.
    pub offline: bool,
}

/// The zones of a device at some moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Distance between the starts of two zones.
    pub zone_bytes: u64,
    /// All of them, in order and without gaps.
    pub zones: Vec<Zone>,
    /// A device keeps the pointers; otherwise they are kept here alone.
    pub managed: bool,
}

impl Table {
    /// Empty zones over a file or device of `size` bytes that has none of its own.
    pub fn emulated(size: u64, zone_bytes: u64, capacity: u64) -> Table {
        let zone = |start: u64| Zone {
            start,
            capacity,
            pointer: start,
            sequential: true,
            open: false,
            offline: false,
        };
        Table {
            zone_bytes,
            zones: (0..size.div_ceil(zone_bytes))
                .map(|i| zone(i * zone_bytes))
                .collect(),
            managed: false,
        }
    }

    /// The zone that a byte lies in; the number of zones for one behind all of them.
    pub fn index(&self, offset: u64) -> usize {
        let index = usize::try_from(offset / self.zone_bytes).unwrap_or(usize::MAX);
        index.min(self.zones.len())
    }

    /// Where a zone starts, or where the last one ends.
    pub fn start(&self, index: usize) -> u64 {
        index as u64 * self.zone_bytes
    }

    /// Whether any zone of a range of bytes must be written in order.
    pub fn has_sequential(&self, offset: u64, length: u64) -> bool {
        if length == 0 {
            return false;
        }
        let (first, last) = (self.index(offset), self.index(offset + length - 1));
        let end = (last + 1).min(self.zones.len());
        self.zones[first.min(end)..end]
            .iter()
            .any(|zone| zone.sequential)
    }
}

/// A zone and who works on it.
#[derive(Clone, Debug)]
struct State {
    zone: Zone,
    /// Stands in the list of open zones.
    listed: bool,
    /// To be reset before it is written again.
    due: bool,
    /// Requests in flight, all of one worker.
    held: u32,
    holder: u32,
}

impl State {
    fn end(&self) -> u64 {
        self.zone.start + self.zone.capacity
    }

    fn filled(&self) -> u64 {
        self.zone.pointer - self.zone.start
    }

    fn is_full(&self, block: u64) -> bool {
        self.zone.pointer + block > self.end()
    }
}

/// The zones of one device in the course of a run.
#[derive(Debug)]
pub struct Zones {
    zone_bytes: u64,
    managed: bool,
    states: Vec<State>,
    /// Most zones that may be open; 0: any number, and no list is kept.
    most_open: u32,
    /// Open zones in the order of their opening. What stands behind the first `listed` is what
    /// stood there before: where nothing is open, fio looks at the first entry all the same.
    list: Box<[u32]>,
    listed: usize,
    /// Bytes written in the region of the worker that began last.
    filled: u64,
    /// The same without zones that need no order.
    filled_sequential: u64,
    /// Writes until the next reset of `zone_reset_frequency`.
    writes_left: u32,
}

impl Zones {
    /// The state of a device at the beginning.
    pub fn new(table: &Table, most_open: u32) -> Zones {
        let state = |zone: &Zone| State {
            zone: *zone,
            listed: false,
            due: false,
            held: 0,
            holder: 0,
        };
        Zones {
            zone_bytes: table.zone_bytes,
            managed: table.managed,
            states: table.zones.iter().map(state).collect(),
            most_open,
            list: vec![0; MOST_OPEN].into(),
            listed: 0,
            filled: 0,
            filled_sequential: 0,
            writes_left: 0,
        }
    }

    /// The zone as it is believed to be.
    pub fn zone(&self, index: usize) -> &Zone {
        &self.states[index].zone
    }

    /// Where a zone ends, which is behind its capacity.
    pub fn end(&self, index: usize) -> u64 {
        self.states[index].zone.start + self.zone_bytes
    }

    /// The device has set the pointer of a zone back to its start.
    pub fn was_reset(&mut self, index: usize) {
        let start = self.states[index].zone.start;
        self.moved(index, start);
    }

    /// The pointer of a zone stands elsewhere.
    pub fn moved(&mut self, index: usize, pointer: u64) {
        let zone = &mut self.states[index].zone;
        let before = std::mem::replace(&mut zone.pointer, pointer);
        for filled in [&mut self.filled, &mut self.filled_sequential] {
            *filled = filled.wrapping_add(pointer.wrapping_sub(before));
        }
    }

    fn index(&self, offset: u64) -> usize {
        let index = usize::try_from(offset / self.zone_bytes).unwrap_or(usize::MAX);
        index.min(self.states.len())
    }

    /// Whether another worker has requests in flight there.
    fn is_taken(&self, index: usize, me: u32) -> bool {
        let state = &self.states[index];
        state.held > 0 && state.holder != me
    }

    fn hold(&mut self, index: usize, me: u32) {
        let state = &mut self.states[index];
        state.holder = me;
        state.held += 1;
    }

    fn release(&mut self, index: usize) {
        self.states[index].held -= 1;
    }

    /// Strikes a zone off the list; true if it was on it.
    fn close(&mut self, index: usize) -> bool {
        let listed = &self.list[..self.listed];
        let Some(at) = listed.iter().position(|zone| *zone as usize == index) else {
            return false;
        };
        self.list.copy_within(at + 1.., at);
        self.listed -= 1;
        self.states[index].listed = false;
        true
    }
}

#[cfg(test)]
mod tests;
