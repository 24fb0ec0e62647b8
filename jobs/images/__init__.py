"""Image processing: filters and object counts on microscope images, by a pool of workers."""

from jobs.images.profile import OPENSTACK_VM
from jobs.model import Job, Operator

JOB = Job(
    name="images",
    title="Image processing",
    about="microscope images are blurred, split into channels, searched for edges and counted",
    reference="Borkowski et al. 2019, sections 3.1-3.2",
    event="an image of 1.7 megapixels",
    topology=(
        Operator("source", selectivity=1.0),
        Operator("filters", selectivity=1.0),
        Operator("sink", selectivity=0.0),
    ),
    profiles={"openstack-vm": OPENSTACK_VM},
)
