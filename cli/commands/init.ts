import { databaseOption } from '../places/instanceLocation.ts';
import { callText } from '../terminal/callTexts.ts';
import { defineInstanceCommand, flag, optional } from '../terminal/command.ts';
import { keyCopyText } from '../terminal/keyCopyText.ts';
import { commandLine, section } from '../terminal/terminal.ts';
import { createToken, newTokenFile, tokenText } from './newToken.ts';

export const initCommand = defineInstanceCommand({
  name: 'init',
  summary: "create an instance, its owner and the owner's token",
  details: 'The owner is a service user with the role IAM_OWNER in the default organisation.',
  instance: 'created',
  isAudited: true,
  arguments: [],
  options: {
    name: optional('NAME', 'name of the instance; by default the name of its directory or database'),
    'user-login-must-be-domain': flag(
      "end login names with the organisation's domain, so that several organisations without a domain policy can have the same user names; cannot be changed later",
    ),
    expires: optional('DURATION', 'lifetime of the token; by default 30d'),
    ...newTokenFile,
  },
  examples: ['init --data ./north --token-file owner.pat', 'init --firestore my-project/north --name north'],
  prepare: async ({ options }) => {
    if (options['token-file'] === undefined) return;
    const { requireNewFile } = await import('../../shared/auth/tokenFile.ts');
    requireNewFile(options['token-file']);
  },
  run: async ({ store, options, location, defaultName, environment, now }) => {
    const { tokenLifetime } = await import('../terminal/configuration.ts');
    const { initialise } = await import('../../shared/accounts/initialise.ts');
    const lifetimeMs = tokenLifetime(options.expires, { environment });
    const instance = {
      name: options.name ?? defaultName,
      loginNamesByDomain: options['user-login-must-be-domain'],
    };
    const created = await createToken(options, () => initialise(store, instance, lifetimeMs, now));
    const { openKeyring } = await import('../../shared/store/openStore.ts');
    const { file: masterKeyFile } = openKeyring(location);
    return {
      json: created,
      text: [
        `organisation ${created.orgId}, service user ${created.userId}, ${tokenText(created)}`,
        ...(masterKeyFile === undefined ? [] : [keyCopyText(masterKeyFile)]),
        ...section('Next', [commandLine(callText(`serve ${databaseOption(location)}`))]),
      ],
    };
  },
});
