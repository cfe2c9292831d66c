# SPDX-License-Identifier: Apache-2.0
"""torch.Tensor.to, .cuda and .pin_memory: `h2d` and `pin` spans, only for calls that copy data out of the host's
ordinary memory.

The arguments are looked at first, so a call that moves nothing costs only a comparison. Subclasses of Tensor and
torch-function modes see the same calls as without us.
"""
from penstock_hooks import wire
from penstock_hooks.bridge import begin, cancel, end, intern, open_spans
from penstock_hooks.wrapping import replace

_H2D, _PIN = wire.H2D, wire.PIN


class _Names(dict):
    """Span name for a type of device; None for one that uses host memory."""

    def __missing__(self, device):
        value = self[device] = None if device in ("cpu", "meta") else intern("to:" + device)
        return value


def _on_host(torch):
    """on_host(tensor): True for a plain tensor in host memory, while no torch-function mode is active.

    An active mode would see each of our accesses to the tensor. The mode handles the program's call first, and then
    makes the call again with itself disabled. The hook sees that second call.
    """
    plain = (torch.Tensor, torch.nn.Parameter)
    mode_active = (
        getattr(torch._C, "_is_torch_function_mode_enabled", None)
        or getattr(torch._C, "_len_torch_function_stack", None)
        or (lambda: False)
    )

    def on_host(tensor):
        return type(tensor) in plain and not mode_active() and tensor.device.type == "cpu"

    return on_host


def _copy(original, name, self, args, kwargs):
    token = begin(_H2D, name)
    try:
        result = original(self, *args, **kwargs)
    except BaseException:
        cancel(token)
        raise
    if result is self:
        cancel(token)
    else:
        end(token, self.numel() * self.element_size() if token else 0)
    return result


def _make_to(torch):
    names = _Names()
    device_type, tensor_type = torch.device, torch.Tensor
    on_host = _on_host(torch)

    def make(original):
        def to(self, *args, **kwargs):
            if args:
                where = args[0]
            else:
                where = kwargs.get("device")
                if where is None:
                    return original(self, **kwargs)
            kind = type(where)
            if kind is device_type:
                where = where.type
            elif kind is str:
                where = where.partition(":")[0]
            elif kind is int:
                where = "cuda"
            elif kind is tensor_type:
                where = "cpu" if on_host(where) else "cuda"
            else:
                return original(self, *args, **kwargs)
            name = names[where]
            if name is None or not on_host(self):
                return original(self, *args, **kwargs)
            return _copy(original, name, self, args, kwargs)

        return to

    return make


def _make_cuda(torch):
    on_host = _on_host(torch)
    name = intern("to:cuda")

    def make(original):
        def cuda(self, *args, **kwargs):
            if on_host(self):
                return _copy(original, name, self, args, kwargs)
            return original(self, *args, **kwargs)

        return cuda

    return make


def _make_pin(original):
    name = intern("Tensor.pin_memory")

    def pin_memory(self, *args, **kwargs):
        if open_spans(_PIN):  # the DataLoader pins: one span covers the whole batch
            return original(self, *args, **kwargs)
        token = begin(_PIN, name)
        try:
            result = original(self, *args, **kwargs)
        except BaseException:
            cancel(token)
            raise
        if result is self:  # it was already pinned
            cancel(token)
        else:
            end(token)
        return result

    return pin_memory


def patch(torch):
    tensor = torch.Tensor
    replace(tensor, "to", _make_to(torch))
    replace(tensor, "cuda", _make_cuda(torch))
    replace(tensor, "pin_memory", _make_pin)
