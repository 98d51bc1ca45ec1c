//! The windows for Prometheus: counters and gauges as OpenMetrics over HTTP.

use super::Moment;
use super::windows::Window;
use anyhow::Context;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use tiny_http::{Header, Method, Request, Response, Server};
use units::Ddir;

/// Content type of OpenMetrics.
const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Of {
    job: String,
    number: u32,
    direction: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Quantile {
    job: String,
    number: u32,
    direction: &'static str,
    quantile: &'static str,
}

type Seconds = Gauge<f64, AtomicU64>;

/// What is served.
pub struct Metrics {
    registry: Arc<Mutex<Registry>>,
    ios: Family<Of, Counter>,
    bytes: Family<Of, Counter>,
    latency: Family<Quantile, Seconds>,
    running: Gauge,
    elapsed: Seconds,
}

impl Metrics {
    /// Listens on `address` until the process ends.
    ///
    /// # Errors
    /// The address cannot be had.
    pub fn serve(address: &str) -> anyhow::Result<Metrics> {
        let server = Server::http(address)
            .map_err(|error| anyhow::anyhow!("{error}"))
            .with_context(|| format!("--metrics={address}"))?;
        let metrics = Metrics {
            registry: Arc::default(),
            ios: Family::default(),
            bytes: Family::default(),
            latency: Family::default(),
            running: Gauge::default(),
            elapsed: Seconds::default(),
        };
        metrics.register();
        let registry = Arc::clone(&metrics.registry);
        std::thread::Builder::new()
            .name("metrics".into())
            .spawn(move || {
                for request in server.incoming_requests() {
                    // A reader that is gone needs no answer.
                    let _ = answer(request, &registry);
                }
            })
            .context("a thread for --metrics")?;
        Ok(metrics)
    }

    fn register(&self) {
        let mut registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        registry.register("assay_ios", "I/Os that ended", self.ios.clone());
        registry.register_with_unit(
            "assay_transferred",
            "Bytes that were moved",
            Unit::Bytes,
            self.bytes.clone(),
        );
        registry.register_with_unit(
            "assay_window_latency",
            "Percentiles of completion latency since the last interval",
            Unit::Seconds,
            self.latency.clone(),
        );
        let help = "Jobs that are not over";
        registry.register("assay_running_jobs", help, self.running.clone());
        let help = "Time since the run began";
        registry.register_with_unit("assay_elapsed", help, Unit::Seconds, self.elapsed.clone());
    }

    /// Takes in a window.
    pub fn take(&self, moment: &Moment, window: &Window) {
        self.running.set(moment.running.into());
        self.elapsed.set(moment.elapsed_ns as f64 / 1e9);
        for job in &window.jobs {
            for ddir in Ddir::DATA {
                let flow = &job.flows[ddir];
                let of = Of {
                    job: job.name.clone(),
                    number: job.number,
                    direction: ddir.name(),
                };
                if flow.ios > 0 {
                    self.ios.get_or_create(&of).inc_by(flow.ios);
                    self.bytes.get_or_create(&of).inc_by(flow.bytes);
                }
                let found = flow
                    .ns
                    .iter()
                    .flat_map(|ns| ["0.5", "0.99", "0.999"].iter().zip(ns));
                for (quantile, ns) in found {
                    let labels = Quantile {
                        job: of.job.clone(),
                        number: of.number,
                        direction: of.direction,
                        quantile,
                    };
                    self.latency.get_or_create(&labels).set(*ns as f64 / 1e9);
                }
            }
        }
    }
}

fn answer(request: Request, registry: &Mutex<Registry>) -> std::io::Result<()> {
    let path = request.url().split('?').next().unwrap_or_default();
    if path != "/metrics" {
        let words = Response::from_string("the metrics are at /metrics\n");
        return request.respond(words.with_status_code(404));
    }
    if !matches!(request.method(), Method::Get | Method::Head) {
        let words = Response::from_string("the metrics are only read\n");
        return request.respond(words.with_status_code(405));
    }
    let mut text = String::new();
    let told = {
        let registry = registry.lock().unwrap_or_else(PoisonError::into_inner);
        encode(&mut text, &registry)
    };
    if told.is_err() {
        return request.respond(Response::from_string("").with_status_code(500));
    }
    let mut response = Response::from_string(text);
    if let Ok(header) = Header::from_bytes("Content-Type", TYPE) {
        response = response.with_header(header);
    }
    request.respond(response)
}
