"""Where runs execute: `local`, in processes of this machine; `ray`, on a cluster."""
