import { describe, expect, it } from 'vitest';
import {
  type ExportFilter,
  filterExport,
  filteredManifest,
  readManifest,
  withManifest,
} from '../../../../cli/exports/exportFilter.ts';
import { secretSelection } from '../../../../shared/exportFile/secretSelection.ts';
import { organisation, person } from '../../../support/fixtures/organisations.ts';

/** Yields a text in pieces, so that values cross their borders. */
function inPieces(text: string, size: number) {
  return async function* () {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
}

async function filtered(file: object, filter: ExportFilter, size = 7): Promise<unknown> {
  let text = '';
  for await (const part of filterExport(inPieces(JSON.stringify(file), size), filter))
    text += Buffer.from(part).toString();
  return JSON.parse(text);
}

const robot = (userId: string) => ({ userId, user: { userName: userId, name: userId } });
const member = (userId: string) => ({ userId, roles: ['ORG_OWNER'] });

describe('a filter of an export file', () => {
  it('keeps everything of the organisations that it keeps, whatever the pieces', async () => {
    const acme = organisation('acme', {
      humanUsers: [person('ada'), person('bob')],
      labelPolicy: { hideLoginNameSuffix: true },
    });
    const emca = organisation('emca', { humanUsers: [person('eve')] });
    const file = { orgs: [acme, emca], manifest: { version: 1 } };
    for (const size of [1, 7, 10_000]) {
      expect(await filtered(file, {}, size)).toEqual({ orgs: [acme, emca] });
      expect(await filtered(file, { keeps: (orgId) => orgId === 'emca' }, size)).toEqual({ orgs: [emca] });
    }
    expect(await filtered(file, { keeps: () => false })).toEqual({ orgs: [] });
    expect(await filtered({ orgs: [] }, {})).toEqual({ orgs: [] });
    for (const orgs of [null, [null]]) expect(await filtered({ orgs }, { keeps: () => true })).toEqual({ orgs: [] });
  });

  it('knows organisations whose ids follow their records, or are written otherwise', async () => {
    const late = { humanUsers: [person('ada')], org: { name: 'Late' }, org_id: 'late' };
    const file = { orgs: [late, organisation('other')] };
    expect(await filtered(file, { keeps: (orgId) => orgId === 'late' })).toEqual({ orgs: [late] });
  });

  it('leaves out a user with everything that refers to it', async () => {
    const file = {
      orgs: [
        organisation('acme', {
          machineUsers: [robot('mover'), robot('other')],
          orgMembers: [member('mover'), member('other')],
          userMetadata: [{ id: 'mover', key: 'k', value: 'dg==' }],
          userGrants: [{ userId: 'mover', projectId: 'p', roleKeys: [] }],
          actions: [{ actionId: 'a', action: { name: 'mover', script: '"mover"' } }],
        }),
      ],
    };
    expect(await filtered(file, { withoutUser: 'mover' })).toEqual({
      orgs: [
        organisation('acme', {
          machineUsers: [robot('other')],
          orgMembers: [member('other')],
          actions: [{ actionId: 'a', action: { name: 'mover', script: '"mover"' } }],
        }),
      ],
    });
  });

  const hash = { value: 'hash', algorithm: 'bcrypt' };
  const key = { keyId: 'k', userId: 'mover' };
  const keys = { machineKeys: [key], app_keys: [{ id: 'a' }] };
  const idp = (secrets: object) => [{ idpId: 'i', idp: { name: 'OIDC', ...secrets } }];
  const withSecrets = organisation('acme', {
    oidcIdps: idp({ clientSecret: 'secret' }),
    humanUsers: [
      { ...person('ada', { hashedPassword: hash, otpCode: 'seed' }), otpEmail: true },
      { ...person('bob', { hashed_password: hash, otp_code: 'seed', password: 'clear' }), otp_email: true },
    ],
    ...keys,
  });
  const bare = { value: undefined, algorithm: 'bcrypt' };
  const passwords = [
    person('ada', { hashedPassword: hash }),
    person('bob', { hashed_password: hash, password: 'clear' }),
  ];
  const people = (user: object, other: object) => [person('ada', user), person('bob', other)];
  const none = { oidcIdps: idp({}), humanUsers: people({ hashedPassword: bare }, { hashed_password: bare }) };

  it.each([
    ['none', [], none],
    ['passwords', ['passwords'] as const, { oidcIdps: idp({ clientSecret: 'secret' }), humanUsers: passwords }],
    [
      'otp',
      ['otp'] as const,
      {
        oidcIdps: idp({}),
        humanUsers: [
          { ...person('ada', { otpCode: 'seed', hashedPassword: bare }), otpEmail: true },
          { ...person('bob', { otp_code: 'seed', hashed_password: bare }), otp_email: true },
        ],
      },
    ],
    ['keys', ['keys'] as const, { ...none, ...keys }],
    ['all', ['passwords', 'otp', 'keys'] as const, withSecrets],
  ])('keeps of the secrets %s, in both spellings', async (_case, kinds, expected) => {
    const secrets = secretSelection(kinds);
    expect(await filtered({ orgs: [withSecrets] }, { secrets })).toEqual({ orgs: [organisation('acme', expected)] });
    const names = { passwords: true, otp: false, keys: true };
    const tally = { counts: { orgs: 1 }, digest: 'sha256:0' };
    const own = filteredManifest({ version: 1, digest: '', secrets: names }, tally, secrets);
    const { withPasswords, withKeys } = secrets;
    expect(own).toEqual({ version: 1, ...tally, secrets: { passwords: withPasswords, otp: false, keys: withKeys } });
    let text = '';
    for await (const part of withManifest(inPieces('{"orgs":[]}', 1)(), own)) text += Buffer.from(part).toString();
    expect(JSON.parse(text)).toEqual({ orgs: [], manifest: own });
  });

  it('reads the manifest as it is', async () => {
    const manifest = { version: 1, secrets: { otp: true } };
    const read = (value: object) => readManifest(inPieces(JSON.stringify(value), 5));
    expect(await read({ orgs: [organisation('acme')], manifest })).toEqual(manifest);
    expect(await read({ orgs: [] })).toBeUndefined();
    expect(await read({ orgs: [], manifest: null })).toBeUndefined();
  });
});
