"""The local place: a real broker, real engines, real quotas, in processes of this machine."""
