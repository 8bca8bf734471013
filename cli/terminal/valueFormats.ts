import type { output, ZodType } from 'zod';
import { operations } from '../../shared/auth/token.ts';
import { DAY_MS, HOUR_MS } from '../../shared/clock.ts';
import { knownRoles } from '../../shared/organisation/roles.ts';
import { onConflicts } from '../../shared/wire/transferOptions.ts';
import { secretNames } from '../records/secretSelection.ts';

type Zod = typeof import('zod');

export interface ValueFormat {
  readonly remedy: string;
  /**
   * Returns the schema that checks and parses a value. The caller passes the library Zod, because the help needs the
   * formats but must not load the library.
   */
  readonly schema: (zod: Zod) => ZodType | Promise<ZodType>;
}

/** A duration, as the user has written it and in milliseconds. Examples: `30d`, `12h`, `45m`, `90s`. */
export interface Span {
  readonly text: string;
  readonly milliseconds: number;
}

const spanUnits: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: HOUR_MS, d: DAY_MS };

const SPAN = /^\d{1,6}[smhd]$/;

function parseSpan(text: string): Span {
  return { text, milliseconds: Number(text.slice(0, -1)) * (spanUnits[text.slice(-1)] ?? 0) };
}

/**
 * Losses that the user can accept if ZITADEL is the source or the target. `unknown-states`: ZITADEL does not return the
 * states of some records. `refused-hashes`: the import omits a password hash if ZITADEL can reject the person because
 * of the hash.
 */
export const acceptableLosses = ['unknown-states', 'refused-hashes'] as const;

export const SECRET_CHOICES = 'some of passwords,otp,keys, or all, or none';

function choice<const Choice extends string>(choices: readonly Choice[]) {
  return { remedy: `choose one of ${choices.join(', ')}`, schema: ({ z }: Zod) => z.enum(choices) };
}

function someOf<const Choice extends string>(choices: readonly Choice[]) {
  return {
    remedy: `specify some of ${choices.join(', ')}, separated by commas`,
    schema: ({ z }: Zod) =>
      z
        .string()
        .transform((list) => [...new Set(list.split(','))])
        .pipe(z.array(z.enum(choices))),
  };
}

/** Organisations, users and projects have ids of the same format. */
const idFormat = {
  remedy: 'specify an id of 1 to 200 characters',
  schema: async () => (await import('../../functions/removeOtpEmail/contract.ts')).userIdParameter,
};

const textFormat = { remedy: '', schema: ({ z }: Zod) => z.string() };
const pathFormat = { remedy: 'specify a path', schema: ({ z }: Zod) => z.string().min(1) };

/** The formats of values. A key is the name of a format in the help. */
const valueFormats = {
  CONFLICT: choice(onConflicts),
  COUNT: {
    remedy: 'specify a number',
    schema: ({ z }: Zod) =>
      z
        .string()
        .regex(/^\d{1,6}$/)
        .transform(Number),
  },
  CURSOR: {
    remedy: 'specify the cursor of an event, or 0',
    schema: ({ z }: Zod) => z.string().regex(/^\d{1,18}$/),
  },
  DIGEST: {
    remedy: 'specify the 64 digits that the dry run prints',
    schema: ({ z }: Zod) =>
      z
        .string()
        .toLowerCase()
        .regex(/^[0-9a-f]{64}$/),
  },
  DIR: { ...pathFormat, remedy: 'specify a directory' },
  DURATION: {
    remedy: 'specify a duration such as 30d, 12h, 45m or 90s',
    schema: ({ z }: Zod) => z.string().regex(SPAN).transform(parseSpan),
  },
  FILE: {
    remedy: 'specify a path; the path of a file with the name - is ./-',
    schema: ({ z }: Zod) =>
      z
        .string()
        .min(1)
        .refine((path) => path !== '-'),
  },
  HOST: {
    remedy: 'specify an address of this machine, such as 127.0.0.1',
    schema: ({ z }: Zod) => z.union([z.ipv4(), z.ipv6(), z.hostname()]),
  },
  LOSS: someOf(['unknown-states']),
  LOSSES: someOf(acceptableLosses),
  MOMENT: {
    remedy: 'specify a duration such as 7d or 12h, or a date such as 2026-11-24 or 2026-11-24T08:00:00Z (UTC)',
    schema: ({ z }: Zod) =>
      z.union([
        z
          .string()
          .regex(SPAN)
          .transform((text) => ({ ago: parseSpan(text).milliseconds })),
        z.union([z.iso.date(), z.iso.datetime({ offset: true })]).transform((text) => ({ at: new Date(text) })),
      ]),
  },
  // This format checks no rule for names, because organisations and service users have different rules. The commands
  // check the names.
  NAME: textFormat,
  OPERATION: choice([...operations, 'command']),
  OPERATIONS: someOf(operations),
  ORG_ID: idFormat,
  // This format does not check the place, because the command checks the text when it opens the place.
  PLACE: { ...pathFormat, remedy: 'specify a place, such as https://HOST or FILE.json' },
  PROJECT_ID: idFormat,
  PORT: {
    remedy: 'specify a number from 0 to 65535 (0 selects a free port)',
    schema: async () => (await import('../../shared/config.ts')).port,
  },
  'PROJECT[/DATABASE]': {
    remedy: 'specify PROJECT or PROJECT/DATABASE',
    schema: ({ z }: Zod) => z.string().regex(/^[^/]+(\/[^/]+)?$/),
  },
  ROLE: choice([...knownRoles('instance'), ...knownRoles('organisation')]),
  SECRETS: {
    remedy: `specify ${SECRET_CHOICES}`,
    schema: ({ z }: Zod) =>
      z
        .string()
        .transform((list) => (list === 'all' ? [...secretNames] : list === 'none' ? [] : list.split(',')))
        .pipe(z.array(z.enum(secretNames))),
  },
  TOKEN_ID: {
    remedy: 'specify the 32 digits that `identity pat list` shows, not the token itself',
    schema: ({ z }: Zod) => z.string().regex(/^[0-9a-f]{32}$/),
  },
  USER: { remedy: 'specify an id, a user name or an e-mail address', schema: ({ z }: Zod) => z.string().trim().min(1) },
  USER_ID: idFormat,
  WORD: textFormat,
} as const satisfies Readonly<Record<string, ValueFormat>>;

export type ValueName = keyof typeof valueFormats;

export type Value<Name extends ValueName> = output<Awaited<ReturnType<(typeof valueFormats)[Name]['schema']>>>;

export function valueFormat(name: ValueName): ValueFormat {
  return valueFormats[name];
}
