"""Where runs are worked on: `local`, in processes of this machine; `ray`, on a cluster."""
