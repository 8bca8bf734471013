import { randomBytes, randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { startProgram } from '../../../tools/program.ts';
import { identityJson } from '../../support/command.ts';
import { emulatorMasterKey } from '../../support/emulators/emulatorDatabase.ts';
import { describeWithFirestore } from '../../support/emulators/withFirestore.ts';
import { identityProgram } from '../../support/processes/programs.ts';

describeWithFirestore('an interrupted command', () => {
  it('exits with 130, prints how to continue, and is recorded as cancelled', async () => {
    const database = ['--firestore', `cli-${randomUUID()}`];
    const options = { env: { IDENTITY_MASTER_KEY: emulatorMasterKey } };
    await identityJson(['init', ...database], options);
    // The database settles on the key, so that the next one replaces it.
    await identityJson(['rekey', ...database], options);
    const [command, script] = identityProgram;
    const env = { IDENTITY_MASTER_KEY: `${randomBytes(32).toString('base64')},${emulatorMasterKey}` };
    const running = await startProgram(command, [script, 'rekey', ...database], /^/, { env });
    await running.written('seconds for all processes to use the new key');
    const { code, stdout, stderr } = await running.stop('SIGINT');
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(stderr).toMatch(
      /\nidentity: interrupted: the command has not encrypted all secrets with the new key; repeat the command\n$/,
    );
    expect(stderr).toMatch(/"event":"command\.rekey".*"CANCELLED"/);
  });
});
