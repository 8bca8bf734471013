import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { type ExitStatus, usageError } from '../../../../cli/terminal/command.ts';
import { describeError, failureText, writtenText } from '../../../../cli/terminal/describeError.ts';
import { openTemporaryDatabase } from '../../../../shared/collections/temporaryDatabase.ts';
import {
  commandInterrupted,
  nameInvalid,
  organisationUnknown,
  userUnknown,
} from '../../../../shared/errors/commandErrors.ts';
import { IdentityError, internalError } from '../../../../shared/errors/identityError.ts';
import { placeFailed, storageFull } from '../../../../shared/errors/placeErrors.ts';
import { storeUnavailable } from '../../../../shared/errors/storeErrors.ts';
import { fromSqliteError } from '../../../../shared/store/sqlite/sqliteConnection.ts';
import { withFullPath } from '../../../../shared/systemCode.ts';

describe('a fault', () => {
  it.each<[Error, ExitStatus]>([
    [usageError('wrong'), 'usage'],
    [nameInvalid({ problem: 'the name is blank' }), 'usage'],
    [userUnknown({ userId: '1' }), 'failed'],
    [organisationUnknown({ orgId: '1' }), 'usage'],
    [commandInterrupted({ interruption: 'interrupted: repeat the command' }), 'interrupted'],
    [Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' }), 'failed'],
  ])('%s is printed unchanged, and ends the command as %s', (error, exitStatus) => {
    expect(describeError(error)).toEqual({ message: error.message, exitStatus });
  });

  it.each([
    ['ENOENT', 'missing.json does not exist: check the name'],
    ['EISDIR', 'missing.json is a directory: specify a file'],
    [
      'EACCES',
      'this user has no access to missing.json: change the permissions of the file or its directories, or run',
    ],
    ['EPERM', 'this user has no access to missing.json: change'],
    ['EROFS', 'missing.json is on a read-only file system: specify a path on another file system'],
    ['ENOSPC', 'the disk of missing.json is full: free space on the disk, then repeat the command'],
    ['EIO', 'EIO: input/output error'],
  ])('of the system names the file and the remedy: %s', (code, message) => {
    const error = Object.assign(new Error('EIO: input/output error'), { code, path: 'missing.json' });
    expect(describeError(error)).toEqual({ message: expect.stringContaining(message), exitStatus: 'failed' });
  });

  it('shows an id from a caller escaped, in one line', () => {
    const { message } = describeError(userUnknown({ userId: '1\u001b[2J\nidentity: all is well' }));
    expect(message).toContain('1\\u{1b}[2J\\nidentity: all is well');
    expect(describeError(usageError('\n  PORT is\n  HOST is')).message).toBe('\n  PORT is\n  HOST is');
  });

  it('that hides its cause from remote callers shows it', () => {
    const cause = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    expect(describeError(internalError({}, { cause }))).toEqual({ message: cause.message, exitStatus: 'failed' });
  });

  it.each([
    ['full disk', 13],
    ['quota', 778],
  ])('of a %s of a database names its file, and keeps the directory from remote callers', (_, errcode) => {
    const full = Object.assign(new Error('full'), { code: 'ERR_SQLITE_ERROR', errcode, errstr: 'full' });
    const error = fromSqliteError(withFullPath(full, '/data/identity.sqlite'));
    expect(describeError(error)).toEqual({
      message: 'the disk of /data/identity.sqlite is full: free space on the disk, then repeat the command',
      exitStatus: 'failed',
    });
    expect(JSON.stringify(IdentityError.from(error).toJson())).not.toContain('/data');
  });

  it('of a missing report is short, and contains the reason', () => {
    const params = { directory: '/data', bytes: '5 bytes', place: '/data/failed.json' };
    expect(failureText(storageFull(params))).toBe('/data has no space left: 5 bytes of /data/failed.json were written');
  });

  it('of a full disk of temporary data names the directory', () => {
    using database = openTemporaryDatabase('CREATE TABLE data (value BLOB)');
    database.exec('PRAGMA max_page_count = 4');
    let failure: unknown;
    try {
      database.exec('INSERT INTO data VALUES (zeroblob(100000))');
    } catch (error) {
      failure = error;
    }
    expect(describeError(failure)).toEqual({
      message: `no space left for a temporary file in ${tmpdir()}: free some space, or set TMPDIR to another directory`,
      exitStatus: 'failed',
    });
  });

  it('of an import is followed by what the import has written, here or in an instance', () => {
    const failure = storeUnavailable().withDetail({
      '@type': 'type.googleapis.com/identity.v1.ImportProgress',
      written: { org: 1, humanUsers: 1_200 },
      total: { org: 1, humanUsers: 2_000 },
      resumable: true,
    });
    const text = '1,201 of 2,001 records of the file were written before the error';
    expect(writtenText(failure)).toBe(text);
    expect(
      writtenText(placeFailed({ place: 'https://id.example', reason: failure.message }, { cause: failure.toJson() })),
    ).toBe(text);
    expect(writtenText(storeUnavailable())).toBeUndefined();
  });

  it('that is unexpected has no stack trace, unless LOG_LEVEL is debug', () => {
    const fault = new TypeError('x is not a function');
    const advice = 'run the command with LOG_LEVEL=debug, and report its output';
    expect(describeError(fault)).toEqual({
      message: `unexpected error: x is not a function: ${advice}`,
      exitStatus: 'failed',
    });
    expect(describeError(fault, 'debug').message).toMatch(/x is not a function\n\s+at /);
  });
});
