import { IdentityError } from '../../shared/errors/identityError.ts';
import { parsePlace } from '../places/parsePlace.ts';
import type { Place } from '../places/place.ts';
import type { MigrationState } from './state.ts';

/** Something that a migration leaves behind on its places. */
export interface Remainder {
  /** What it is, as questions and answers name it. */
  readonly what: string;
  /** How a person removes it. */
  readonly byHand: string;
  /** The side of the migration that has it. */
  readonly side: Side;
  /** Removes it where the place permits that; false where it has no call for it. */
  readonly remove: (place: Place, signal: AbortSignal) => Promise<boolean>;
}

type Side = 'from' | 'to';

/** Lists what a migration leaves behind: the users of its tokens, and the object that it has read. */
export function listRemainders({ settings, callers = {} }: MigrationState): Remainder[] {
  const { from, to } = settings;
  return [...listCaller('from', from, callers.from), ...listCaller('to', to, callers.to), ...listObject(from)];
}

function listCaller(side: Side, place: string, userId: string | undefined): Remainder[] {
  if (parsePlace(place).kind !== 'instance') return [];
  const user = userId ?? 'USER_ID';
  return [
    {
      what: `the service user ${userId ?? 'of the token'} on ${place}, with its tokens`,
      byHand: `if it was created for the migration, run identity service-user delete ${user} with --data or --firestore of ${place}; otherwise revoke its token with identity pat revoke; in a ZITADEL, delete it in the console`,
      side,
      remove: async (opened, signal) => opened.takes === 'imports' && ((await opened.deleteCaller?.(signal)) ?? false),
    },
  ];
}

function listObject(from: string): Remainder[] {
  if (parsePlace(from).kind !== 'object') return [];
  return [
    {
      what: `the object ${from}`,
      byHand: `run gcloud storage rm ${from}`,
      side: 'from',
      async remove(opened, signal) {
        if (opened.takes !== 'files' || opened.remove === undefined) return false;
        await opened.remove(signal).catch((error: unknown) => {
          // An earlier clean-up may have been interrupted when the object was gone.
          if (!(error instanceof IdentityError) || error.code !== 'NOT_FOUND') throw error;
        });
        return true;
      },
    },
  ];
}
