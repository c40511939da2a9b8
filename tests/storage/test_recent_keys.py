from pressroom.storage.files.local import RecentKeys


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_key_is_remembered_until_it_expires() -> None:
    clock = Clock()
    keys = RecentKeys(60, 10, clock)
    keys.add("a")
    clock.now += 59.9
    assert "a" in keys
    clock.now += 0.1
    assert "a" not in keys


def test_adding_a_key_again_restarts_its_lifetime() -> None:
    clock = Clock()
    keys = RecentKeys(60, 10, clock)
    keys.add("a")
    clock.now += 50
    keys.add("a")
    clock.now += 50
    assert "a" in keys


def test_a_discarded_key_is_forgotten() -> None:
    keys = RecentKeys(60, 10)
    keys.add("a")
    keys.discard("a")
    keys.discard("never there")
    assert "a" not in keys


def test_the_memory_is_bounded_and_evicts_the_oldest_keys() -> None:
    keys = RecentKeys(60, 3)
    for key in ("a", "b", "c", "a", "d"):
        keys.add(key)
    assert len(keys) == 3
    assert [key for key in "abcd" if key in keys] == ["a", "c", "d"]
