import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfiguration } from './terraformFiles.ts';

const files = await readConfiguration();
const all = files.map(({ text }) => text).join('\n');

describe('the access that Terraform grants', () => {
  it('is granted to one member at a time, so that other members keep their roles', () => {
    expect(all.match(/resource "google_\w+_iam_(binding|policy)"/g)).toBeNull();
  });

  it('is public for the invoker of functions only, which the internet reaches through the load balancer', () => {
    const open = files.filter(({ text }) => /member\s*=\s*"all(Authenticated)?Users"/.test(text));
    expect(open.map(({ path }) => path)).toEqual([join('modules', 'instance', 'invoker.tf')]);
    expect(all.match(/ingress_settings .*/g)).toEqual([expect.stringContaining('= "ALLOW_INTERNAL_AND_GCLB"')]);
  });

  it.each([
    ['build', 'build_roles'],
    ['function', 'roles'],
  ])('takes effect before it is used: each role of the account %s is awaited', (account, wait) => {
    const granted = [...all.matchAll(/^resource "(\w+)" "(\w+)" \{\n([\s\S]*?)^\}$/gm)].flatMap(
      ([, type, name, body = '']) =>
        new RegExp(`^ {2}member += google_service_account\\.${account}\\b`, 'm').test(body) ? `${type}.${name}` : [],
    );
    const [waiting = ''] = new RegExp(`^resource "time_sleep" "${wait}" \\{[\\s\\S]*?^\\}$`, 'm').exec(all) ?? [];
    expect(granted).toHaveLength(4);
    expect(granted.filter((address) => !new RegExp(`${address}(\\)\\[\\*\\])?\\.id`).test(waiting))).toEqual([]);
  });

  it('needs no key in the state', () => {
    expect(all).not.toMatch(/resource "google_(service_account_key|secret_manager_secret(_version)?)"|private_key/);
    const [read = '', ...others] = all.match(/^data "google_secret_manager_secret_version\w*"[\s\S]*?^\}$/gm) ?? [];
    expect(read).toMatch(/^ {2}fetch_secret_data = false$/m);
    expect(others).toEqual([]);
  });
});
