import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { run } from '../../testkit/run-program.ts';

/** Where packets are lost: those sent from this side, those sent from the other side, or both. */
export type Loss = 'here' | 'there' | 'both';

/** An address for which no interface listens, so that the other side ignores the packet without an error. */
const NOBODY = '02:00:00:00:00:01';

/** A network namespace, and a pair of virtual interfaces that joins it to this one. Disposing deletes both. Needs root. */
export class Link implements AsyncDisposable {
  /** The name of the namespace. */
  readonly namespace: string;
  /** The address of the other side. */
  readonly address: string;
  readonly #janitor: ChildProcess;
  readonly #ends: Readonly<Record<'here' | 'there', End>>;

  private constructor(namespace: string, here: End, there: End) {
    this.namespace = namespace;
    this.address = there.address;
    this.#ends = { here, there };
    this.#janitor = startJanitor(namespace, here.name);
  }

  /** @throws Error when the system does not allow it */
  static async create(): Promise<Link> {
    const namespace = `books${process.pid}`;
    const network = `10.213.${(process.pid >> 6) & 255}`;
    const number = (process.pid & 63) * 4;
    const here = { name: `${namespace}a`, address: `${network}.${number + 1}`, ip: ['ip'], mac: '' };
    const there = {
      name: `${namespace}b`,
      address: `${network}.${number + 2}`,
      ip: ['ip', '-n', namespace],
      mac: '',
    };
    await run('ip', 'netns', 'add', namespace);
    const link = new Link(namespace, here, there);
    try {
      await run(
        'ip',
        'link',
        'add',
        here.name,
        'type',
        'veth',
        'peer',
        'name',
        there.name,
        'netns',
        namespace,
      );
      for (const end of [here, there]) {
        await command(end, 'address', 'add', `${end.address}/30`, 'dev', end.name);
        await command(end, 'link', 'set', end.name, 'up');
        const [described] = JSON.parse(await command(end, '-json', 'link', 'show', end.name)) as Described[];
        end.mac = described?.address ?? '';
      }
      await link.restore();
      return link;
    } catch (error) {
      await link[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Makes packets vanish: nobody gets an error, and no connection is reset. */
  async lose(from: Loss): Promise<void> {
    if (from !== 'there') await this.#send('here', NOBODY);
    if (from !== 'here') await this.#send('there', NOBODY);
  }

  /** Delivers packets again, in both directions. */
  async restore(): Promise<void> {
    await this.#send('here', this.#ends.there.mac);
    await this.#send('there', this.#ends.here.mac);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const isGone = once(this.#janitor, 'exit');
    this.#janitor.stdin?.end();
    await isGone;
  }

  /** Addresses the packets of one side to an interface. No name is resolved any more, which would report the loss. */
  async #send(from: 'here' | 'there', mac: string): Promise<void> {
    const [end, other] = [this.#ends[from], this.#ends[from === 'here' ? 'there' : 'here']];
    await command(end, 'neigh', 'replace', other.address, 'lladdr', mac, 'dev', end.name, 'nud', 'permanent');
  }
}

/** One side of the link. */
interface End {
  readonly name: string;
  readonly address: string;
  /** The command that configures the namespace of this side. */
  readonly ip: readonly string[];
  mac: string;
}

/** What `ip -json link show` prints of an interface. */
interface Described {
  readonly address: string;
}

function command({ ip: [program = 'ip', ...options] }: End, ...flags: readonly string[]): Promise<string> {
  return run(program, ...options, ...flags);
}

/** Starts a process that deletes a link when its standard input ends, as it does when this process exits, even by SIGKILL. */
function startJanitor(namespace: string, name: string): ChildProcess {
  const script = 'cat >/dev/null; ip link delete "$1"; ip netns delete "$0"';
  return spawn('sh', ['-c', script, namespace, name], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
}
