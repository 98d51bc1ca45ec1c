//! Steady state detection.

use crate::kinds::SteadyState;
use units::Span;

option::options! {
    /// Steady state
    pub struct Steady {
        /// End the job when this criterion holds: metric:limit, as in iops_slope:0.3%.
        steadystate: SteadyState = "iops_slope:0.01%", aliases(&["ss"]);
        /// Window that must be steady; 0 turns the detection off.
        steadystate_duration: Span = "0", aliases(&["ss_dur"]), parent("steadystate");
        /// Time before collecting begins.
        steadystate_ramp_time: Span = "0", aliases(&["ss_ramp"]), parent("steadystate");
        /// Time between samples.
        steadystate_check_interval: Span = "1", aliases(&["ss_interval"]), parent("steadystate");
    }
}
