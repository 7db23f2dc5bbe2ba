"""The contract of the explorer: the random keys and inputs of its parts, and errors."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from tests.functions import Mentor, Rarest

KEY = jax.random.key(5)
CENTER = jnp.array([0.0, 1.0, 0.5])


def tell(key):
    return jax.random.key_data(key)


class TellF(adeu.Mechanism):
    """Return the keys as state and carry."""

    def init(self, key, obs):
        return tell(key)

    def begin(self, key, carry=None):
        return tell(key)

    def measure(self, key, state, carry, obs, **given):
        return jnp.asarray(0.5), tell(key)


class TellD(adeu.Distribution):
    def init(self, key, obs):
        return tell(key)

    def begin(self, key, carry=None):
        return tell(key)

    def sample(self, key, state, carry, center, spread, action_mask=None, **given):
        return jnp.argmax(center), spread > 0, tell(key)


class TellGuard(adeu.Guard):
    def init(self, key, obs):
        return tell(key)

    def begin(self, key, carry=None):
        return tell(key)

    def __call__(self, state, carry, obs, uncertainty, **given):
        return False, 0, carry


def act(explorer, state, carry, key=KEY, obs=0, **given):
    return explorer.act(key, state, carry, obs, CENTER, **given)


class TestKeys:
    explorer = adeu.Explorer(TellF(), adeu.Identity(), TellD())
    guarded = dataclasses.replace(explorer, guard=TellGuard())

    def test_keys_of_f_do_not_depend_on_the_guard(self):
        """In `init`, f gets the key itself; elsewhere the first half of the split."""
        key_f, key_D = jax.random.split(KEY)
        for explorer in (self.explorer, self.guarded):
            state, carry = explorer.init(KEY, 0), explorer.begin(KEY)
            assert state.f.tolist() == tell(KEY).tolist()
            assert carry.f.tolist() == tell(key_f).tolist()
            assert carry.D.tolist() == tell(key_D).tolist()
            assert act(explorer, state, carry)[1].f.tolist() == tell(key_f).tolist()
        assert act(self.explorer, self.explorer.init(KEY, 0), carry)[1].D.tolist() == tell(key_D).tolist()

    def test_every_part_has_a_different_key(self):
        state, carry = self.guarded.init(KEY, 0), self.guarded.begin(KEY)
        children = jax.random.key_data(jax.random.split(KEY, 1000)).tolist()
        used = [state.f, state.D, state.guard, carry.f, carry.D]
        assert len({tuple(key.tolist()) for key in used}) == 5
        assert state.D.tolist() not in children
        assert state.guard.tolist() not in children
        assert carry.guard.tolist() not in children


class TestAsked:
    def asked(self, f, guard=None, **given):
        explorer = adeu.Explorer(f, adeu.Identity(), adeu.Bernoulli(), guard)
        state, carry = explorer.init(KEY, 0), explorer.begin(KEY)
        decision, _ = act(explorer, state, carry, **given)
        assert not explorer.exploit(KEY, state, carry, 0, CENTER, **given).asked
        return bool(decision.asked)

    def test_f_is_asked_outside_rollout_episodes(self):
        always, never = (adeu.Rollouts(adeu.Constant(0.5), rho, 0.1) for rho in (1.0, 0.0))
        assert self.asked(adeu.Constant(0.5))
        assert self.asked(never)
        assert not self.asked(always)
        assert not self.asked(adeu.Calibrated(always))
        assert not self.asked(adeu.Rollouts(always, rho=0.0, c=0.1))
        assert not self.asked(adeu.Sum((adeu.Constant(0.5), always)))
        assert self.asked(adeu.Sum((adeu.Constant(0.5), never)))

    def test_f_is_not_asked_if_the_guard_is_active(self):
        assert not self.asked(adeu.Constant(0.5), adeu.KnownUnsafe([0], [2]))
        assert self.asked(adeu.Constant(0.5), adeu.KnownUnsafe([1], [2]))

    def test_ask_changes_only_the_rollout_flag(self):
        inner = adeu.Calibrated(adeu.Constant(2.0))
        for f in (adeu.Rollouts(inner, 1.0, 0.1), adeu.Sum((adeu.Rollouts(inner, 1.0, 0.1), adeu.Constant(1.0)))):
            state, carry = f.init(KEY, 0), f.begin(KEY)
            for _ in range(3):
                _, carry = f.measure(KEY, state, carry, 0)
            asked = f.ask(carry)
            changed = [not np.array_equal(*both) for both in zip(*map(jax.tree.leaves, (carry, asked)), strict=True)]
            assert changed == [False, False, True, False, False]  # coin, decided, rollout; mean and weight
            assert f.measure(KEY, state, asked, 0)[0] != f.measure(KEY, state, carry, 0)[0]

    def test_a_rollout_coin_does_not_count_as_memory(self):
        assert not adeu.Sum((adeu.Rollouts(adeu.Constant(1.0), 0.5, 0.1), adeu.Constant(1.0))).remembers
        assert adeu.Rollouts(adeu.Calibrated(adeu.Constant(1.0)), 0.5, 0.1).remembers
        assert TellF().remembers


class TestLearningParts:
    def explorer(self, **changes):
        parts = {"f": adeu.Constant(0.9), "g": adeu.Identity(), "D": Rarest(num_actions=3)} | changes
        return adeu.Explorer(**parts)

    def test_a_distribution_learns_from_observed_transitions(self):
        explorer = self.explorer(f=adeu.Constant(1.0))
        state = explorer.init(KEY, 0)
        for action in (0, 1, 1, 2, 2):
            state = explorer.observe(state, adeu.Transition(0, action, 0.0, 0, False, False))
        carry, taken = explorer.begin(KEY), []
        for _ in range(5):
            decision, carry = act(explorer, state, carry)
            taken.append((int(decision.action), bool(decision.explored)))
        assert taken == [(0, True)] * 3 + [(1, False)] * 2  # three times the rarest, then the best
        assert explorer.begin(KEY, carry).D == 0
        assert explorer.learns_from == {"observe"}
        assert explorer.exploit(KEY, state, carry, 0, CENTER).action == 1

    def test_a_mentor_acts_where_f_is_high_and_learns(self):
        f = adeu.from_host(len)
        explorer = self.explorer(f=f, guard=Mentor(threshold=0.4, num_actions=3), D=adeu.Bernoulli())
        state, carry = explorer.init(KEY, 0), explorer.begin(KEY)
        batch = adeu.Transition(jnp.zeros(2), jnp.array([2, 1]), jnp.array([5.0, 1.0]), jnp.zeros(2), False, False)
        state = explorer.update(state, batch)
        decisions = []
        for uncertainty in (0.3, 0.5, 0.5, 0.5):
            decision, carry = act(explorer, state, carry, host_uncertainty=jnp.asarray(uncertainty))
            decisions.append(decision)
        assert [bool(decision.asked) for decision in decisions] == [True, False, False, True]
        assert [float(decision.spread) for decision in decisions] == pytest.approx([0.3, 0.0, 0.0, 0.5])
        assert [int(decision.action) for decision in decisions[1:3]] == [2, 2]
        assert carry.guard == 2
        assert explorer.begin(KEY, carry).guard == 0
        fresh = explorer.begin(KEY)
        assert explorer.exploit(KEY, state, fresh, 0, CENTER, host_uncertainty=0.5).action == 2
        assert explorer.learns_from == {"update"}

    def test_distribution_and_guard_get_the_inputs_of_f(self):
        seen = {}

        class SeeingD(adeu.Distribution):
            def sample(self, key, state, carry, center, spread, action_mask=None, *, obs, q_values, **given):
                seen["D"] = {"obs": obs, "q_values": q_values, "action_mask": action_mask} | given
                return jnp.argmax(center), spread > 0, carry

        class SeeingGuard(adeu.Guard):
            def __call__(self, state, carry, obs, uncertainty, *, center, threshold, **given):
                seen["guard"] = {"center": center, "uncertainty": uncertainty, "threshold": threshold} | given
                return False, 0, carry

        explorer = self.explorer(D=SeeingD(), guard=SeeingGuard())
        assert explorer.needs("act") == {"q_values", "threshold"}
        state, carry, mask = explorer.init(KEY, 0), explorer.begin(KEY), jnp.array([True, True, False])
        given = {"q_values": jnp.ones((2, 3)), "threshold": 0.3, "step": 4, "action_mask": mask}
        act(explorer, state, carry, obs=7, **given)
        assert seen["D"]["obs"] == 7
        assert seen["D"].keys() == {"obs", "q_values", "action_mask", "explored", "threshold", "step"}
        assert seen["guard"]["uncertainty"] == pytest.approx(0.9)
        assert seen["guard"]["center"] is CENTER
        assert {"explored", "action_mask", "step", "q_values"} <= seen["guard"].keys()
        seen.clear()
        explorer.exploit(KEY, state, carry, 7, CENTER, **given)
        assert seen["D"]["obs"] == 7
        del given["q_values"]
        with pytest.raises(TypeError, match="'q_values'"):
            act(explorer, state, carry, **given)

    def test_a_guard_or_a_distribution_may_be_made_of_mechanisms(self):
        @dataclasses.dataclass(frozen=True)
        class Crowded(adeu.Guard):
            """Active in states that were visited before."""

            f: adeu.Mechanism
            critics: adeu.Mechanism

            def __call__(self, state, carry, obs, uncertainty, **given):
                seen, counts = self.f.measure(KEY, state[0], carry[0], obs)
                return seen < 1.0, 0, (counts, carry[1])

        explorer = self.explorer(guard=Crowded(adeu.Counts(4, beta=1.0), adeu.EnsembleStd()), D=adeu.Bernoulli())
        state, carry = explorer.init(KEY, 0), explorer.begin(KEY)
        state = explorer.observe(state, adeu.Transition(3, 0, 0.0, 0, False, False))
        assert state.guard[0].tolist() == [0, 0, 0, 1]
        given = {"q_values": jnp.ones((2, 3))}
        assert [bool(act(explorer, state, carry, obs=obs, **given)[0].asked) for obs in (0, 3)] == [True, False]
        assert explorer.learns_from == {"observe"}
        assert explorer.needs("act") == {"q_values"}


class TestRejected:
    @pytest.mark.parametrize(
        ("kind", "method"),
        [
            (adeu.Mechanism, "measure"),
            (adeu.Distribution, "sample"),
            (adeu.Distribution, "exploit"),
            (adeu.Guard, "__call__"),
            *(
                (kind, hook)
                for kind in (adeu.Mechanism, adeu.Distribution, adeu.Guard)
                for hook in ("observe", "update")
            ),
        ],
    )
    def test_a_method_without_given_is_rejected(self, kind, method):
        with pytest.raises(TypeError, match=rf"Own\.{method}\(\) must take \*\*given"):
            type("Own", (kind,), {method: lambda self, state, carry: None})

    def test_a_hook_of_another_kind_is_rejected(self):
        with pytest.raises(ValueError, match="Constant: hook takes 'measure' or 'observe' or 'update', got 'sample'"):
            adeu.Constant(1.0).needs("sample")
        with pytest.raises(ValueError, match=r"Bernoulli: hook takes 'sample' or .*, got 'measure'"):
            adeu.Bernoulli().needs("measure")

    def test_a_guard_that_returns_no_carry_is_rejected(self):
        class Forgets(adeu.Guard):
            def __call__(self, state, carry, obs, uncertainty, **given):
                return True, 0

        explorer = adeu.Explorer(adeu.Constant(0.5), adeu.Identity(), adeu.Bernoulli(), Forgets())
        with pytest.raises(TypeError, match=r"__call__\(\) must return \(active, action, carry\), it returned"):
            act(explorer, explorer.init(KEY, 0), explorer.begin(KEY))

    def test_parts_without_their_method_are_rejected(self):
        with pytest.raises(NotImplementedError, match=r"D has no sample\(key, state, carry, center, spread"):
            type("D", (adeu.Distribution,), {})().sample(KEY, (), (), CENTER, 0.0)
        with pytest.raises(NotImplementedError, match=r"G has no __call__\(state, carry, obs, uncertainty"):
            type("G", (adeu.Guard,), {})()((), (), 0, 0.0)

    def test_a_part_with_another_carry_must_define_ask_and_asked(self):
        @dataclasses.dataclass(frozen=True)
        class Own(adeu.Mechanism):
            f: adeu.Mechanism

            def begin(self, key, carry=None):
                return {"own": jnp.zeros(3), "f": super().begin(key, None)}

        f = Own(adeu.Constant(1.0))
        for method in ("asked", "ask"):
            message = rf"Own has a carry besides that of its parts and must define {method}\(\)"
            with pytest.raises(TypeError, match=message):
                getattr(f, method)(f.begin(KEY))
        assert f.remembers
