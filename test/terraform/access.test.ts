import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfiguration, readTerraform } from './terraformFiles.ts';

const files = await readConfiguration();
const functions = await readTerraform('modules/instance/functions.json');
const all = [...files.map(({ text }) => text), functions].join('\n');

const distinct = (pattern: RegExp) => [...new Set([...all.matchAll(pattern)].map(([, found]) => found))].toSorted();

describe('the access that Terraform grants', () => {
  it('consists of these roles', () => {
    expect(distinct(/"(roles\/[^"]+)"/g)).toEqual([
      'roles/artifactregistry.writer',
      'roles/datastore.user',
      'roles/datastore.viewer',
      'roles/iam.serviceAccountTokenCreator',
      'roles/logging.logWriter',
      'roles/run.invoker',
      'roles/secretmanager.secretAccessor',
      'roles/storage.objectCreator',
      'roles/storage.objectUser',
      'roles/storage.objectViewer',
    ]);
  });

  it('is granted to one member at a time, so that other members keep their roles', () => {
    expect(distinct(/resource "google_(\w+_iam_(?!audit_config)\w+)"/g)).toEqual([
      'artifact_registry_repository_iam_member',
      'cloud_run_v2_service_iam_member',
      'project_iam_member',
      'secret_manager_secret_iam_member',
      'service_account_iam_member',
      'storage_bucket_iam_member',
    ]);
  });

  it('is public for the invoker of functions only, which the internet reaches through the load balancer', () => {
    const open = files.filter(({ text }) => /member\s*=\s*"all(Authenticated)?Users"/.test(text));
    expect(open.map(({ path }) => path)).toEqual([join('modules', 'instance', 'invoker.tf')]);
  });

  it('contains no key and no password', () => {
    expect(distinct(/resource "google_(service_account_key|secret_manager_secret(?:_version)?)"/g)).toEqual([]);
    expect(all).not.toMatch(/private_key|password/);
    const keys = all.match(/^(?:data|ephemeral) "google_secret_manager_secret_version\w*"[\s\S]*?^\}$/gm) ?? [];
    expect(keys.filter((source) => !/^ {2}fetch_secret_data = false$/m.test(source))).toEqual([]);
    expect(keys).toHaveLength(1);
  });
});
