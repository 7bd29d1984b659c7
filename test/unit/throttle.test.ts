import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LoginThrottle, networkOf } from '../../src/auth/throttle.ts';
import { FIXED_LIMITS } from '../../src/http/limits.ts';

const FAILURES_MAX = 3;

function createThrottle(now?: () => number): LoginThrottle {
  return new LoginThrottle(FAILURES_MAX, now);
}

function failOften(throttle: LoginThrottle, address: string, times: number): void {
  for (let failure = 0; failure < times; failure++) throttle.fail(address);
}

describe('The login throttle', () => {
  test('rejects an address after too many failures until its window ends', () => {
    let milliseconds = 1_000_000;
    const throttle = createThrottle(() => milliseconds);
    throttle.fail('192.0.2.1');
    milliseconds += 20_000;
    throttle.fail('192.0.2.1');
    assert.equal(throttle.secondsToWait('192.0.2.1'), 0);
    throttle.fail('192.0.2.1');

    assert.equal(throttle.secondsToWait('192.0.2.1'), 40);
    milliseconds += 39_500;
    assert.equal(throttle.secondsToWait('192.0.2.1'), 1);
    milliseconds += 500;
    assert.equal(throttle.secondsToWait('192.0.2.1'), 0);
    // The next window begins with the next failure.
    assert.equal(throttle.fail('192.0.2.1'), 0);
    failOften(throttle, '192.0.2.1', 2);
    assert.equal(throttle.secondsToWait('192.0.2.1'), 60);
  });

  test('rejects concurrent failures beyond the limit', () => {
    const throttle = createThrottle(() => 1_000_000);
    assert.deepEqual(
      [1, 2, 3, 4].map(() => throttle.fail('192.0.2.1')),
      [0, 0, 0, 60],
    );
  });

  test('does not count logins that did not fail', () => {
    const throttle = createThrottle();
    for (let login = 0; login < 100; login++) assert.equal(throttle.secondsToWait('192.0.2.1'), 0);
  });

  test('counts each address separately', () => {
    const throttle = createThrottle();
    failOften(throttle, '192.0.2.1', 3);
    assert.equal(throttle.secondsToWait('192.0.2.2'), 0);
  });

  test('counts a /64 of IPv6 as one address, and a mapped address as IPv4', () => {
    const throttle = createThrottle();
    throttle.fail('2001:db8::1');
    throttle.fail('2001:DB8:0:0:ffff::2');
    throttle.fail('2001:db8::dead:beef');
    assert.ok(throttle.secondsToWait('2001:db8::3') > 0);
    assert.equal(throttle.secondsToWait('2001:db8:0:1::3'), 0);

    failOften(throttle, '::ffff:192.0.2.1', 3);
    assert.ok(throttle.secondsToWait('192.0.2.1') > 0);
    assert.equal(throttle.secondsToWait('::ffff:192.0.2.2'), 0);
  });

  test('keeps 100,000 addresses, and deletes the oldest', () => {
    const throttle = createThrottle();
    failOften(throttle, 'first', 3);
    failOften(throttle, 'second', 3);
    for (let number = 3; number <= 100_000; number++) throttle.fail(`name ${number}`);
    assert.ok(throttle.secondsToWait('first') > 0);
    throttle.fail('one more');
    assert.equal(throttle.secondsToWait('first'), 0);
    assert.ok(throttle.secondsToWait('second') > 0);
  });

  test('ends the windows when the clock of the system is set back, too', (context) => {
    context.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const throttle = createThrottle();
    throttle.fail('192.0.2.1');
    context.mock.timers.setTime(0);
    failOften(throttle, '192.0.2.1', 2);
    const seconds = throttle.secondsToWait('192.0.2.1');
    assert.ok(seconds > 0 && seconds <= 60, `${seconds}`);
  });

  test('allows 100 failures per minute', () => {
    const throttle = new LoginThrottle(FIXED_LIMITS.failedLogins, () => 1_000_000);
    failOften(throttle, '192.0.2.1', 99);
    assert.equal(throttle.secondsToWait('192.0.2.1'), 0);
    throttle.fail('192.0.2.1');
    assert.equal(throttle.secondsToWait('192.0.2.1'), 60);
  });
});

describe('The networkOf of an address', () => {
  const NETWORKS = {
    '192.0.2.1': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '::FFFF:192.0.2.1': '192.0.2.1',
    '2001:db8:1:2:3:4:5:6': '2001:db8:1:2::/64',
    '2001:0DB8:0001:0002::': '2001:db8:1:2::/64',
    '2001:db8::': '2001:db8:0:0::/64',
    '2001:db8::1:2:3:4:5': '2001:db8:0:1::/64',
    '64:ff9b::192.0.2.1': '64:ff9b:0:0::/64',
    'fe80::1%eth0': 'fe80:0:0:0::/64',
    '::1': '0:0:0:0::/64',
    '::': '0:0:0:0::/64',
    '192.0.2.1:8080': '192.0.2.1',
    '[2001:db8::1]': '2001:db8:0:0::/64',
    '[2001:db8::1]:8080': '2001:db8:0:0::/64',
    '[::ffff:192.0.2.1]:80': '192.0.2.1',
    [`${'x'.repeat(64)}yz`]: 'x'.repeat(64),
    unknown: 'unknown',
    '': '',
  };
  for (const [address, expected] of Object.entries(NETWORKS)) {
    test(`${address || 'an empty text'} is ${expected || 'empty'}`, () =>
      assert.equal(networkOf(address), expected));
  }
});
