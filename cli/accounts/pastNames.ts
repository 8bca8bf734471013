import { type ReadEvent, readEvents } from '../../shared/audit/databaseTrail.ts';
import type { Trail } from '../../shared/store/store.ts';

export class PastNames {
  private readonly trail: Trail;
  private readonly namedIn: (event: ReadEvent) => readonly [userId: string, name: string] | undefined;
  private readonly names = new Map<string, string>();
  private last = '0';

  /**
   * @param namedIn returns the id and the name of the user whom an event concerns; undefined if the event lacks either
   */
  constructor(trail: Trail, namedIn: PastNames['namedIn']) {
    this.trail = trail;
    this.namedIn = namedIn;
  }

  /** Reads the events that were recorded after the previous call, then returns the last recorded name of a user. */
  find(userId: string): string | undefined {
    const skip = (cursor: string) => {
      this.last = cursor;
    };
    for (const event of readEvents(this.trail, this.last, skip)) {
      this.last = event.cursor;
      const named = this.namedIn(event);
      if (named !== undefined) this.names.set(...named);
    }
    return this.names.get(userId);
  }
}
