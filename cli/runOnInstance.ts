import { instanceMissing } from '../shared/errors/commandErrors.ts';
import { hasDatabase, openStore } from '../shared/store/openStore.ts';
import { runAudited } from './auditedRun.ts';
import type { Call, GivenValues, InstanceCommand } from './command.ts';
import type { ExitStatus } from './exitStatus.ts';
import { instanceLocation } from './instanceLocation.ts';
import type { Print } from './output.ts';

/**
 * Runs a command on the instance that a call names.
 * @param print prints the output before the database is closed: lists are read from it meanwhile
 */
export async function runOnInstance(
  command: InstanceCommand,
  call: Call,
  given: GivenValues,
  print: Print,
): Promise<ExitStatus> {
  const { data: [data] = [], firestore: [firestore] = [] } = given.options;
  const { location, defaultName, environment } = instanceLocation(data, firestore, call.environment);
  if (command.instance === 'existing' && !hasDatabase(location)) throw instanceMissing(data ?? '');
  const onInstance = { ...call, environment };
  await command.prepare?.(onInstance, location);
  const store = await openStore(location);
  try {
    const run = () => command.run({ ...onInstance, store, location, defaultName });
    return await print(
      await (command.isAudited ? runAudited(command, given, { location, stderr: call.stderr }, run) : run()),
    );
  } finally {
    await store.close();
  }
}
