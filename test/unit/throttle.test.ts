import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LoginThrottle, network, THROTTLE_LIMITS } from '../../src/auth/throttle.ts';

const LIMITS = { failuresMax: 3, windowSeconds: 60 };

async function failOften(throttle: LoginThrottle, address: string, times: number): Promise<void> {
  for (let failure = 0; failure < times; failure++) await throttle.fail(address);
}

describe('The throttle of logins', () => {
  test('lets an address wait after too many failures, until its window ends', async () => {
    const throttle = new LoginThrottle(LIMITS);
    await failOften(throttle, '192.0.2.1', 2);
    assert.equal(await throttle.secondsToWait('192.0.2.1'), 0);
    await throttle.fail('192.0.2.1');

    const seconds = await throttle.secondsToWait('192.0.2.1');
    assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60, `${seconds}`);
  });

  test('lets it in again after that', async (context) => {
    context.mock.timers.enable({ apis: ['Date', 'setTimeout'] });
    const throttle = new LoginThrottle(LIMITS);
    await throttle.fail('192.0.2.1');
    context.mock.timers.tick(20_000);
    await failOften(throttle, '192.0.2.1', 2);

    assert.equal(await throttle.secondsToWait('192.0.2.1'), 40);
    context.mock.timers.tick(39_500);
    assert.equal(await throttle.secondsToWait('192.0.2.1'), 1);
    context.mock.timers.tick(501);
    assert.equal(await throttle.secondsToWait('192.0.2.1'), 0);
  });

  test('never counts what did not fail', async () => {
    const throttle = new LoginThrottle(LIMITS);
    for (let login = 0; login < 100; login++) assert.equal(await throttle.secondsToWait('192.0.2.1'), 0);
  });

  test('counts every address by itself', async () => {
    const throttle = new LoginThrottle(LIMITS);
    await failOften(throttle, '192.0.2.1', 3);
    assert.equal(await throttle.secondsToWait('192.0.2.2'), 0);
  });

  test('counts a /64 of IPv6 as one, and mapped IPv4 as what it is', async () => {
    const throttle = new LoginThrottle(LIMITS);
    await throttle.fail('2001:db8::1');
    await throttle.fail('2001:DB8:0:0:ffff::2');
    await throttle.fail('2001:db8::dead:beef');
    assert.ok((await throttle.secondsToWait('2001:db8::3')) > 0);
    assert.equal(await throttle.secondsToWait('2001:db8:0:1::3'), 0);

    await failOften(throttle, '::ffff:192.0.2.1', 3);
    assert.ok((await throttle.secondsToWait('192.0.2.1')) > 0);
    assert.equal(await throttle.secondsToWait('::ffff:192.0.2.2'), 0);
  });

  test('leaves room for people who mistype', () => {
    assert.deepEqual(THROTTLE_LIMITS, { failuresMax: 100, windowSeconds: 60 });
  });
});

describe('The network of an address', () => {
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
    unknown: 'unknown',
    '': '',
  };
  for (const [address, expected] of Object.entries(NETWORKS)) {
    test(`${address || 'of nobody'} is ${expected || 'none'}`, () =>
      assert.equal(network(address), expected));
  }
});
