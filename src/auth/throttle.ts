import { isIP, isIPv6, SocketAddress } from 'node:net';

/** The length of a window, which begins with the first failure. */
const WINDOW_MS = 60_000;
/** Limits the memory; beyond it the oldest window is deleted. */
const WINDOWS_MAX = 100_000;

interface Window {
  failures: number;
  readonly endsAtMs: number;
}

/** Counts failed logins by network, within this process. */
export class LoginThrottle {
  readonly #failuresMax: number;
  readonly #now: () => number;
  /** By network, the oldest first. */
  readonly #windows = new Map<string, Window>();

  /**
   * @param failuresMax those of a network within a window
   * @param now a monotonic clock, in milliseconds: another one may be set back, and the windows would end later
   */
  constructor(failuresMax: number, now = () => performance.now()) {
    this.#failuresMax = failuresMax;
    this.#now = now;
  }

  secondsToWait(address: string): number {
    const window = this.#windows.get(networkOf(address));
    return window && window.failures >= this.#failuresMax ? this.#secondsLeft(window) : 0;
  }

  /** Counts a failed login. @returns the seconds until this address may log in, if concurrent logins reached the limit */
  fail(address: string): number {
    const key = networkOf(address);
    let window = this.#windows.get(key);
    if (!window || this.#secondsLeft(window) === 0) window = this.#begin(key);
    window.failures++;
    return window.failures > this.#failuresMax ? this.#secondsLeft(window) : 0;
  }

  #begin(key: string): Window {
    const window = { failures: 0, endsAtMs: this.#now() + WINDOW_MS };
    this.#windows.delete(key);
    this.#windows.set(key, window);
    for (const [oldest, { endsAtMs }] of this.#windows) {
      if (endsAtMs > this.#now() && this.#windows.size <= WINDOWS_MAX) break;
      this.#windows.delete(oldest);
    }
    return window;
  }

  #secondsLeft({ endsAtMs }: Window): number {
    return Math.max(0, Math.ceil((endsAtMs - this.#now()) / 1_000));
  }
}

/** Proxies may send names instead of addresses (RFC 7239, section 6); longer ones are truncated. */
const NAME_LENGTH_MAX = 64;

/** The key of a client: its IPv4 address, or the /64 of its IPv6 address, which one customer commonly has (RFC 6177). */
export function networkOf(client: string): string {
  const address = plainAddress(client);
  if (!isIPv6(address)) return address.slice(0, NAME_LENGTH_MAX);
  const [left = [], right = []] = address
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`;
}

/** The address of a client for the log; undefined for a name. */
export function addressOf(client: string): string | undefined {
  const address = plainAddress(client);
  return isIP(address) === 0 ? undefined : address;
}

/** In the form of RFC 5952, without a zone and the port that some proxies add, and as IPv4 if it is mapped into IPv6. */
function plainAddress(client: string): string {
  const unzoned = client.replace(/%[^\]]*/, '');
  const { address } = SocketAddress.parse(isIPv6(unzoned) ? `[${unzoned}]` : unzoned) ?? { address: client };
  return address.replace(/^::ffff:(?=[0-9.]+$)/, '');
}
