import { defineInstanceCommand } from '../terminal/command.ts';
import { keyCopyText } from '../terminal/keyCopyText.ts';
import { counted } from '../terminal/numberTexts.ts';
import { runAlone } from './runAlone.ts';

export const rekeyCommand = defineInstanceCommand({
  name: 'rekey',
  summary: 'encrypt all secrets with a new master key',
  details:
    'The command creates the new key in master.key, or uses the first key in IDENTITY_MASTER_KEY. Earlier backups need the earlier key, which the command keeps in master.key.ID. The instance can keep running. If the command was interrupted, repeat it.',
  isAudited: true,
  arguments: [],
  options: {},
  examples: ['rekey --data ./north'],
  run: async (call) => {
    const { location, stderr } = call;
    const { keyFenceMs, openKeyring, requireMasterKey } = await import('../../shared/store/openStore.ts');
    const { rekey } = await import('../accounts/masterKeyRotation.ts');
    requireMasterKey(location);
    const onStep = (name: string) => void stderr.write(`${name}\n`);
    const fenceMs = keyFenceMs(location);
    const keyring = openKeyring(location);
    const interruption = 'interrupted: the command has not encrypted all secrets with the new key; repeat the command';
    const rekeyed = await runAlone(
      { name: 'rekey', phase: 'encrypting', interruption },
      call,
      (store, onResealed, signal) => rekey(store, keyring, { signal, onStep, onResealed, fenceMs }),
    );
    const { keyId, documents, earlierKeys } = rekeyed;
    return {
      json: rekeyed,
      text: [
        `all secrets are encrypted with the master key ${keyId}; ${counted(documents, 'document')} had another key before`,
        ...(keyring.file === undefined ? [] : [keyCopyText(keyring.file)]),
        ...earlierKeys.map(
          ({ id, file }) =>
            `earlier backups need the master key ${id}${file === undefined ? '' : ` in ${file}`}: keep this key as long as these backups`,
        ),
      ],
    };
  },
});
