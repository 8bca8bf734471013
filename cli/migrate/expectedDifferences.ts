import type { ImportResponse } from '../../functions/import/contract.ts';
import type { RecordDifference } from '../compare/comparison.ts';
import { type ZitadelSide, zitadelReason } from '../zitadel/expectedDifferences.ts';
import type { MigrationSettings } from './settings.ts';

/** What a migration did, as far as it explains differences. */
interface Explaining {
  readonly settings: Pick<MigrationSettings, 'onConflict'>;
  readonly response: ImportResponse | undefined;
  readonly zitadels: readonly ZitadelSide[];
}

/** Why a record may differ after a migration. */
interface Explanation {
  readonly reason: string;
  readonly applies: (difference: RecordDifference, migration: Explaining) => boolean;
}

/** The fields of a password: a clear one in a file becomes a hash in the target. */
const passwordFields = new Set(['user.password', 'user.hashedPassword.value']);

const explanations: readonly Explanation[] = [
  {
    reason: 'the target has it besides: an import deletes nothing',
    applies: ({ outcome }) => outcome === 'onlySecond',
  },
  {
    reason: 'it existed with other content, and --on-conflict skip keeps that',
    applies: ({ outcome, section }, { settings, response }) =>
      outcome === 'different' && settings.onConflict === 'skip' && (response?.summary.skipped?.[section] ?? 0) > 0,
  },
  {
    reason: 'the target has hashed the clear password',
    applies: ({ fields = [] }) => fields.length === 2 && fields.every(({ path }) => passwordFields.has(path)),
  },
];

/** Returns why a record may differ after a migration; undefined for a difference that should not be. */
export function explain(difference: RecordDifference, migration: Explaining): string | undefined {
  for (const side of migration.zitadels) {
    const reason = zitadelReason(difference, side);
    if (reason !== undefined) return reason;
  }
  return explanations.find(({ applies }) => applies(difference, migration))?.reason;
}
