import type { Relay } from '../../testkit/relay.ts';
import type { Outage } from '../outage/run-outage.ts';
import type { Random } from '../random.ts';
import type { Link, Loss } from './link.ts';

/** The faults of a network in which packets are lost, by name. @param share the fraction of their full length */
export function lossesOf(link: Link, share: number): Readonly<Record<string, Outage>> {
  return {
    'cut for 5 s': loss(link, 'both', 5_000 * share),
    'cut for 30 s': loss(link, 'both', 30_000 * share),
    'cut for 120 s': loss(link, 'both', 120_000 * share),
    'requests lost for 30 s': loss(link, 'here', 30_000 * share),
    'responses lost for 30 s': loss(link, 'there', 30_000 * share),
  };
}

function loss(link: Link, from: Loss, lastsMs: number): Outage {
  return { isDown: true, lastsMs, begin: () => link.lose(from), end: () => link.restore() };
}

/** How many connections are cut within a message. */
const CUTS = 50;

/** The faults of a relay between the service and its server, by name. @param share the fraction of their full length */
export function relayFaultsOf(relay: Relay, random: Random, share: number): Readonly<Record<string, Outage>> {
  return {
    'relay stalls for 30 s': {
      isDown: true,
      lastsMs: 30_000 * share,
      begin: async () => relay.stall(),
      end: async () => relay.resume(),
    },
    'relay forgets its connections': {
      isDown: false,
      lastsMs: 0,
      begin: async () => relay.forget(),
      end: async () => {},
    },
    'relay cuts within messages': {
      isDown: false,
      lastsMs: 0,
      begin: () => cutWithinMessages(relay, random),
      end: async () => {},
    },
  };
}

/** Cuts some connections, each after a part of a message; resolves when they are cut. */
async function cutWithinMessages(relay: Relay, random: Random): Promise<void> {
  const goal = relay.cuts + CUTS;
  const { promise, resolve } = Promise.withResolvers<void>();
  relay.truncate = ({ length }) => {
    if (relay.cuts >= goal) {
      relay.truncate = undefined;
      resolve();
      return undefined;
    }
    return random.below(8) === 0 ? 1 + random.below(length - 1) : undefined;
  };
  await promise;
}
