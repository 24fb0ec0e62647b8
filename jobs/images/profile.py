"""How fast a worker filters images, on which engine, and who says so."""

from jobs import engines
from jobs.model import Constant, Profile

_POOL = "measured: OpenCV on 1.7 Mpx images, pool of workers at 0.25 core each"

OPENSTACK_VM = Profile(
    engines.OPENSTACK_VM,
    {
        "worker_capacity": Constant(14.0, "events/s", f"{_POOL}: 14 images/s with one worker"),
        "scaling_exponent": Constant(0.81, "", f"{_POOL}: 14, 24 and 43 images/s with 1, 2 and 4 workers"),
        "key_count": Constant(0, "keys", "Borkowski et al. 2019, section 3.1: images go round-robin"),
        "key_skew": Constant(0.0, "", "as above"),
        "key_groups": Constant(1, "groups", "as above"),
        "cpu_idle": Constant(0.02, "share", "assumed: a waiting worker"),
        "cpu_full": Constant(1.0, "share", "Borkowski et al. 2019, section 3.2: CPU bound"),
        "memory_base": Constant(0.2, "share", "assumed"),
        "memory_state": Constant(0.3, "share", "assumed: the last 1000 images' pixels, shared by all workers"),
        "memory_per_event": Constant(0.0, "share", "what waits stays in the queue's own machine"),
        "latency_base_s": Constant(0.07, "s", "one image's service time at the capacity above"),
        "latency_spread": Constant(0.2, "log s", "assumed"),
        "latency_idle_s": Constant(0.0, "s", "no buffers that wait to be full"),
        "latency_idle_load": Constant(1.0, "share", "as above: without effect"),
        "event_bytes_in": Constant(1_700_000.0, "bytes", "Borkowski et al. 2019, section 3.2: 1.7 Mpx, one byte each"),
        "event_bytes_out": Constant(100.0, "bytes", "assumed: the objects' number and the answers to queries"),
    },
)
