import { type BadRequest, rows } from './badRequest.ts';

// Every document begins with an organisation that is right, so that it shows whether something was written.
const good = '{"orgId":"1","org":{"name":"Never written"}}';
const noFile = /^data_orgsv1: expected an export file: a JSON object, or a string/;
const withOrg = (name: string, fields: string, message: RegExp) =>
  document(name, `{"orgs":[${good},{"orgId":"2","org":{"name":"Neither"},${fields}}]}`, message);

/** One document that is wrong, sent as an object and as a string. */
function document(name: string, text: string, message: RegExp) {
  return [
    { name: `${name}, in an object`, body: `{"data_orgs":${text}}`, message },
    { name: `${name}, in a string`, body: JSON.stringify({ data_orgs: text }), message },
  ];
}

/** Documents with a fault of structure: nothing of them is written. */
export const badDocuments: readonly BadRequest[] = rows(
  '/admin/v1/import',
  [
    document('organisations that are no list', `{"orgs":${good}}`, /^orgs: expected a list/),
    document('an organisation that is a string', `{"orgs":[${good},"2"]}`, /^orgs\[1\]: expected an object/),
    document('an organisation that is null', `{"orgs":[${good},null]}`, /^orgs\[1\]: expected an object/),
    document(
      'an organisation id that is a number',
      `{"orgs":[${good},{"orgId":2}]}`,
      /^orgs\[1\].orgId: .*expected string, got 2/,
    ),
    document('a list of organisations twice', `{"orgs":[${good}],"orgs":[]}`, /^orgs: duplicate field "orgs"/),
    withOrg('people that are no list', '"humanUsers":{}', /^orgs\[1\].humanUsers: expected a list/),
    withOrg('a person that is null', '"humanUsers":[null]', /^orgs\[1\].humanUsers\[0\]: unexpected null/),
    withOrg(
      'a person without what describes one',
      '"humanUsers":[{"userId":"3"}]',
      /orgs\[1\]\.humanUsers\[0\].*user: value is required/,
    ),
    withOrg(
      'a user name that is a number',
      '"humanUsers":[{"userId":"3","user":{"userName":5}}]',
      /^orgs\[1\].humanUsers\[0\]: .*user_name.*expected string/,
    ),
    withOrg(
      'both spellings of a field',
      '"humanUsers":[{"userId":"3","user_id":"3","user":{}}]',
      /^orgs\[1\].humanUsers\[0\]: .*user_id.*set multiple times/,
    ),
    withOrg(
      'metadata that is not base64',
      '"userMetadata":[{"id":"3","key":"k","value":"%%"}]',
      /^orgs\[1\].userMetadata\[0\].value: .*base64/,
    ),
    withOrg(
      'a duration that is none',
      '"oidcApps":[{"appId":"4","app":{"clockSkew":"long"}}]',
      /^orgs\[1\].oidcApps\[0\].app.clockSkew: .*duration/,
    ),
    withOrg(
      'a flag that is a string',
      '"domains":[{"domainName":"x.example","isVerified":"true"}]',
      /^orgs\[1\].domains\[0\]: .*expected boolean/,
    ),
    withOrg(
      'a person nested ten thousand deep',
      `"humanUsers":[${'['.repeat(10_000)}${']'.repeat(10_000)}]`,
      /^orgs\[1\].humanUsers\[0\]: /,
    ),
    document('a manifest that is none', `{"orgs":[${good}],"manifest":{"version":1}}`, /^manifest.instance: /),
    document(
      'a manifest of another version',
      `{"orgs":[${good}],"manifest":{"version":2}}`,
      /^manifest.version: .*expected 1/,
    ),
  ].flat(),
).concat(
  rows('/admin/v1/import', [
    { name: 'a number as the file', body: '{"data_orgsv1":1}', message: noFile },
    { name: 'true as the file', body: '{"data_orgsv1":true}', message: noFile },
    { name: 'a list as the file', body: '{"data_orgsv1":[]}', message: noFile },
    { name: 'an empty string as the file', body: '{"data_orgsv1":""}', message: /unexpected end of JSON input/ },
    {
      name: 'a file that is cut off in an object',
      body: `{"data_orgsv1":{"orgs":[${good}`,
      message: /unexpected end of JSON input/,
    },
    {
      name: 'a file that is cut off in a string',
      body: JSON.stringify({ data_orgsv1: `{"orgs":[${good}` }),
      message: /unexpected end of JSON input/,
    },
    {
      name: 'text after the file in a string',
      body: JSON.stringify({ data_orgsv1: '{"orgs":[]}x' }),
      message: /data after the end/,
    },
    {
      name: 'a string in a string',
      body: JSON.stringify({ data_orgsv1: JSON.stringify('{"orgs":[]}') }),
      message: /expected an object/,
    },
  ]),
);
