import { DAY_MS } from '../../shared/clock.ts';
import { shellWord } from '../../shared/shellWord.ts';
import { databaseOption } from '../places/instanceLocation.ts';
import { callText } from '../terminal/callTexts.ts';
import {
  defineInstanceCommand,
  type Output,
  optional,
  repeatable,
  required,
  usageError,
  type Values,
} from '../terminal/command.ts';
import { commandLine, section } from '../terminal/terminal.ts';
import { createToken, tokenText } from './newToken.ts';

const ONE_DAY = { text: '1d', milliseconds: DAY_MS };

const prepareOptions = {
  'token-file': required('FILE', 'the new file for the token'),
  only: repeatable('OPERATIONS', 'permissions of the token, by default export,import; export is enough for a source'),
};

export const migratePrepareCommand = defineInstanceCommand({
  name: 'migrate prepare',
  summary: 'create a service user and a token for a migration',
  details: 'The user has the role IAM_OWNER; the token is valid for a day.',
  isAudited: true,
  arguments: [optional('PLACE', 'the address of ZITADEL: prints the steps for the console of ZITADEL')],
  options: prepareOptions,
  examples: [
    'migrate prepare --only export --token-file north.pat --data ./north',
    'migrate prepare --token-file south.pat --firestore my-project/south',
    'migrate prepare https://zitadel.example.com --token-file zitadel.pat',
  ],
  elsewhere: ({ arguments: [place], options }) =>
    place === undefined ? undefined : () => consoleSteps(place, options),
  run: async ({ options, store, location, environment, now }) => {
    const { tokenLifetime } = await import('../terminal/configuration.ts');
    const { createMigrationUser } = await import('../accounts/serviceUsers.ts');
    const named = [...new Set(options.only.flat())];
    const only: typeof named = named.length === 0 ? ['export', 'import'] : named;
    if (!only.includes('export') || only.includes('otp-email'))
      throw usageError(
        'a migration needs a token with the operation export and without otp-email: specify --only export for a source, or export,import for a target',
      );
    const lifetimeMs = tokenLifetime(ONE_DAY, { environment });
    const created = await createToken(options, () => createMigrationUser(store, only, lifetimeMs, now));
    const side = only.includes('import') ? 'to' : 'from';
    const next = callText(
      `migrate --${side} PLACE --${side}-token-file ${shellWord(options['token-file'])} … --dry-run`,
    );
    const undo = callText(`service-user delete ${created.userId} ${databaseOption(location)}`);
    return {
      json: { ...created, undo },
      text: [
        `service user ${created.userId} with the role IAM_OWNER, ${tokenText(created)}`,
        ...section('Next', [`the token permits ${only.join(' and ')}:`, commandLine(next)]),
        ...section('After the migration, delete the user and its token', [commandLine(undo)]),
      ],
    };
  },
});

/**
 * Returns instructions for ZITADEL's console, where the user creates the token. The command cannot create the token,
 * because the command itself has no permissions in ZITADEL yet.
 * @throws IdentityError USAGE_INVALID for a place without an address
 */
async function consoleSteps(
  place: string,
  { 'token-file': file, only }: Values<typeof prepareOptions>,
): Promise<Output> {
  const { noEffect } = await import('../open/optionEffects.ts');
  if (only.length > 0) throw noEffect('--only', 'the console of ZITADEL does not restrict tokens');
  const { parsePlace } = await import('../places/parsePlace.ts');
  const parsed = parsePlace(place);
  if (parsed.kind !== 'instance')
    throw usageError(
      `${place} is not an address: specify https://HOST for ZITADEL, or --data DIR or --firestore PROJECT[/DATABASE] for an instance`,
    );
  const { origin } = parsed;
  const steps = [
    '1. Users, Service Users, New: create a user in the default organisation, with the Access Token Type Bearer',
    '2. Personal Access Tokens of this user, New: create a token that expires tomorrow',
    `3. store only the token in ${file}, which only you can read (chmod 600)`,
    '4. Default settings, Administrators, New: add the user with the role Iam Owner; for a source, Iam Owner Viewer is enough, but then you must delete the user in the console',
  ];
  const next = callText(`migrate --from ${origin} --from-token-file ${shellWord(file)} … --dry-run`);
  return {
    json: { place: origin, steps, next },
    text: [
      ...section(`In the console of ZITADEL at ${origin}`, steps),
      ...section('Next', ['for a source (for a target, use --to and --to-token-file):', commandLine(next)]),
      'When the migration ends, it prints how to delete the user and the token.',
      'For an instance of this service, specify its database instead: --data DIR or --firestore PROJECT[/DATABASE].',
    ],
  };
}
