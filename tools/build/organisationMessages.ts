import { relative } from 'node:path';
import { clone, type DescEnum, type DescFile, type DescMessage } from '@bufbuild/protobuf';
import { embedFileDesc } from '@bufbuild/protobuf/codegenv2';
import { type DescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { rules } from '@zitadel/proto/validate/validate_pb.js';
import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { DataOrgSchema as DataOrgV1Schema } from '@zitadel/proto/zitadel/v1_pb.js';
import type { Plugin } from 'esbuild';
import { root } from '../program.ts';

// An esbuild plugin that limits a bundle to the protobuf definitions that ZITADEL's organisation document uses. Without
// the plugin, loading the document would build all definitions in its files and their dependencies, including the
// requests and services of two APIs.

/** The definitions that our source files import. */
const roots: readonly DescMessage[] = [DataOrgSchema, DataOrgV1Schema];

const directory = 'node_modules/@zitadel/proto/es';
const constant = ({ name }: DescFile) => `file_${name.replaceAll('/', '_')}`;

export const selectOrganisationMessages: Plugin = {
  name: 'select organisation messages',
  setup(build) {
    const modules = organisationModules();
    build.onLoad({ filter: /[\\/]@zitadel[\\/]proto[\\/]es[\\/]zitadel[\\/]\w+_pb\.js$/ }, ({ path }) => {
      const contents = modules.get(relative(root, path).replaceAll('\\', '/'));
      return contents === undefined ? undefined : { contents };
    });
  },
};

function organisationModules(): ReadonlyMap<string, string> {
  const used = new Set<DescMessage | DescEnum>();
  for (const message of roots) addMessage(used, message);
  const files = new Set([...used].map(({ file }) => file).filter(({ name }) => name.startsWith('zitadel/')));
  return new Map([...files].map((file) => [`${directory}/${file.name}_pb.js`, moduleText(file, used)]));
}

function addMessage(used: Set<DescMessage | DescEnum>, message: DescMessage): void {
  if (used.has(message)) return;
  used.add(message);
  for (const field of message.fields) {
    if (field.enum !== undefined) used.add(field.enum);
    if (field.message !== undefined) addMessage(used, field.message);
  }
}

function moduleText(file: DescFile, used: ReadonlySet<DescMessage | DescEnum>): string {
  const dependencies = file.dependencies.filter((dependency) => [...used].some((type) => type.file === dependency));
  const proto = clone(FileDescriptorProtoSchema, file.proto);
  const names = new Set([...used].filter((type) => type.file === file).map(outermostName));
  proto.messageType = proto.messageType.filter(({ name }) => names.has(name));
  proto.enumType = proto.enumType.filter(({ name }) => names.has(name));
  proto.service = [];
  for (const message of proto.messageType) keepRules(message);
  const definition = `fileDesc('${embedFileDesc(proto).base64()}', [${dependencies.map(constant).join(', ')}])`;
  const exported = roots.filter((message) => message.file === file);
  return [
    `import { fileDesc, messageDesc } from '@bufbuild/protobuf/codegenv2';`,
    ...dependencies.map((dependency) => `import { ${constant(dependency)} } from '${moduleOf(dependency)}';`),
    `export const ${constant(file)} = /*@__PURE__*/ ${definition};`,
    ...exported.map(({ name }) => {
      const index = proto.messageType.findIndex((message) => message.name === name);
      return `export const ${name}Schema = /*@__PURE__*/ messageDesc(${constant(file)}, ${index});`;
    }),
  ].join('\n');
}

function outermostName({ parent, name }: DescMessage | DescEnum): string {
  return parent === undefined ? name : outermostName(parent);
}

function moduleOf({ name }: DescFile): string {
  return name.startsWith('google/protobuf/') ? '@bufbuild/protobuf/wkt' : `../${name}_pb.js`;
}

/**
 * Removes all options of a message except validation rules. The removed options describe ZITADEL's API, for example.
 */
function keepRules(message: DescriptorProto): void {
  for (const { options } of [message, ...message.field]) {
    if (options?.$unknown !== undefined) options.$unknown = options.$unknown.filter(({ no }) => no === rules.number);
  }
  for (const nested of message.nestedType) keepRules(nested);
}
