import { type Call, UsageError } from '../command.ts';
import type { ParsedPlace } from './parsePlace.ts';

/** A side of a call with two places; a call with one has no sides. */
type Side = 'from' | 'to';

/** A place of a call. */
export interface GivenPlace {
  readonly side?: Side;
  readonly text: string;
  readonly parsed: ParsedPlace;
}

/** The file of a place's secret, and the option that names it. */
interface SecretFile {
  readonly file: string;
  readonly option: string;
}

/** Which option names the secret of which kind of place, and whether one option may serve two places. */
const kinds = [
  { name: 'token-file', place: 'instance', isShared: false, needs: 'an instance' },
  { name: 'credentials-file', place: 'object', isShared: true, needs: 'a gs:// place' },
] as const;

/**
 * Finds the file with the secret of each place that has one: `--from-token-file` and `--to-token-file`, or `--token-file`
 * where only one place needs a token.
 * @throws UsageError for a missing, ambiguous or unused option
 */
export function secretFiles({ options }: Call, places: readonly GivenPlace[]): Map<GivenPlace, SecretFile> {
  const found = new Map<GivenPlace, SecretFile>();
  for (const { name, place: kind, isShared, needs } of kinds) {
    const needing = places.filter(({ parsed }) => parsed.kind === kind);
    const used = new Set<string>();
    for (const place of needing) {
      const own = place.side === undefined ? name : `${place.side}-${name}`;
      const option = options[own] === undefined ? name : own;
      const file = options[option];
      if (file === undefined && isShared) continue;
      if (file === undefined)
        throw new UsageError(
          `missing option --${needing.length > 1 ? own : name}: the file with the token for ${place.text}`,
        );
      if (option !== own && !isShared && needing.length > 1)
        throw new UsageError(`--${name} names the secret of one place: specify --from-${name} and --to-${name}`);
      used.add(option);
      found.set(place, { file, option: `--${option}` });
    }
    const unused = [name, `from-${name}`, `to-${name}`].find((one) => options[one] !== undefined && !used.has(one));
    if (unused !== undefined) throw new UsageError(`--${unused} has no use: it is for ${needs}, and each has its file`);
  }
  return found;
}
