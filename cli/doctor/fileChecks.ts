import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import type { ObjectLocation } from '../../shared/objectStorage/objectStorage.ts';
import { exportOptions } from '../places/callOptions.ts';
import { openFile } from '../places/filePlace.ts';
import { isOpenToOthers } from '../places/openPlaces.ts';
import { RecordCounter } from '../places/recordCounter.ts';
import { type Check, check, type Finding, failed, ok, warning } from './check.ts';
import { findSpace } from './databaseChecks.ts';

const wholeFile = exportOptions({ options: { org: [], 'exclude-org': [], with: undefined, timeout: undefined } });

/** Checks a file: whether it is an export file, or can become one. */
export async function checkFile(path: string, signal: AbortSignal): Promise<Check[]> {
  const directory = dirname(resolve(path));
  const exists = await access(path).then(
    () => true,
    () => false,
  );
  if (!exists)
    return [
      await check('file', async () => {
        await access(directory, constants.W_OK);
        return ok(`${path} does not exist, and can be written`);
      }),
      await check('disk', () => findSpace(directory)),
    ];
  return [
    await check('file', async () => {
      const counter = new RecordCounter(path);
      await using content = await openFile(path).readExport(wholeFile, signal);
      let bytes = 0;
      for await (const chunk of counter.count(content.open(signal))) bytes += chunk.byteLength;
      return ok(`${path} holds ${counter.organisations} organisations with ${counter.records} records, ${bytes} bytes`);
    }),
    await check('file permissions', () => findOpenFile(path)),
  ];
}

async function findOpenFile(path: string): Promise<Finding> {
  return (await isOpenToOthers(path))
    ? warning(`others can read ${path}: run chmod 600 ${path}`)
    : ok('only its owner can read it');
}

/** Checks an object, its bucket and the credentials, without writing. */
export async function checkObject(location: ObjectLocation, signal: AbortSignal): Promise<Check[]> {
  return [
    await check('object', async () => {
      try {
        const { size } = await createCloudStorage().pin(location, signal);
        return ok(`the object can be read, ${size} bytes; it is never overwritten`);
      } catch (error) {
        if (!(error instanceof IdentityError)) throw error;
        if (error.code === 'NOT_FOUND') return ok('bucket and credentials are good, and the name is free');
        // An account that may only write is enough for an export.
        if (error.code === 'PERMISSION_DENIED') return warning(`it cannot be read: ${error.message}`);
        return failed(error.message);
      }
    }),
  ];
}
