import type { Place } from '../places/place.ts';
import { repeatable } from '../places/repeatable.ts';
import { filterExport } from './exportFilter.ts';

const END = Buffer.from('}');

/** Returns a place whose exports lack a user and everything that refers to it. */
export function withoutUser(place: Place, userId: string): Place {
  const filter = { keeps: () => true, withoutUser: userId };
  return {
    ...place,
    async readExport(options, signal) {
      await using resources = new AsyncDisposableStack();
      const content = resources.use(await place.readExport(options, signal));
      const file = resources.use(await repeatable(content, signal));
      const held = resources.move();
      return {
        isRepeatable: true,
        async *open(readSignal) {
          yield* filterExport(() => file.open(readSignal), filter);
          yield END;
        },
        [Symbol.asyncDispose]: () => held.disposeAsync(),
      };
    },
  };
}
