import { existsSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import type { Loader, Plugin } from 'esbuild';
import { root } from '../program.ts';

// Replaces modules of dependencies in bundles. The dependencies load these modules when they start, but this service
// never calls them. So the modules would only delay the start.

// A module without the descriptions of protobuf messages, which only servers with gRPC reflection read.
const NO_DESCRIPTORS = `
const { Enum, Root, Type } = require('protobufjs');
const description = { $type: { toObject: () => ({}) } };
Root.prototype.toDescriptor = () => ({ file: [] });
Type.prototype.toDescriptor = Enum.prototype.toDescriptor = () => description;`;

// Firestore's client requires a definition of its service, but not the methods in it.
const NO_METHODS = JSON.stringify(
  ['google', 'firestore', 'v1', 'Firestore'].reduceRight<object>((inner, name) => ({ nested: { [name]: inner } }), {
    methods: {},
  }),
);

const EMPTY = 'module.exports = {};';
const gax = 'node_modules/google-gax/build';

/** The key is the path of a replaced module; the value is the code that replaces the module. */
const replacements: Readonly<Record<string, string>> = {
  // Omits the document model, the client for administration, and 1.9 MB of generated messages.
  'node_modules/@google-cloud/firestore/build/src/index.js': `exports.v1 = require('@google-cloud/firestore-api/client_v1');`,
  // Omits all messages, because the store encodes and decodes them itself (shared/store/firestore/messages.ts).
  'node_modules/@google-cloud/firestore-api/build/protos/protos.json': NO_METHODS,
  // Omits calls over HTTP/1, uploads, and services of other Google APIs.
  [`${gax}/src/fallback.js`]: EMPTY,
  [`${gax}/src/resumableUpload.js`]: EMPTY,
  [`${gax}/src/resumableSourceFromFile.js`]: EMPTY,
  [`${gax}/src/operationsClient.js`]: EMPTY,
  [`${gax}/src/iamService.js`]: EMPTY,
  // This module cannot be empty, because each client of Firestore creates and closes a client of this service.
  [`${gax}/src/locationService.js`]: 'exports.LocationsClient = class { async close() {} };',
  [`${gax}/protos/iam_service.js`]: EMPTY,
  [`${gax}/protos/locations.js`]: EMPTY,
  [`${gax}/protos/operations.js`]: EMPTY,
  'node_modules/protobufjs/ext/descriptor/index.js': NO_DESCRIPTORS,
  // Omits error messages in all languages except English.
  'node_modules/zod/v4/locales/index.js': `export { default as en } from './en.js';`,
  // Omits an implementation of streams, because Node has its own.
  'node_modules/web-streams-polyfill/dist/ponyfill.es2018.js': EMPTY,
};

export const replacedModules: readonly string[] = Object.keys(replacements);

const loaders: Readonly<Record<string, Loader>> = { '.js': 'js', '.json': 'json' };
const special = /[.*+?^${}()|[\]\\/-]/g;
const paths = new RegExp(`(${replacedModules.map((path) => path.replace(special, '\\$&')).join('|')})$`);

/** The build fails if a dependency no longer contains one of the replaced modules. */
export const replaceModules: Plugin = {
  name: 'replace modules',
  setup(build) {
    build.onStart(() => {
      const missing = replacedModules.filter((path) => !existsSync(join(root, path)));
      return { errors: missing.map((path) => ({ text: `${path} is missing; update tools/build/replacedModules.ts` })) };
    });
    build.onLoad({ filter: paths }, ({ path }) => {
      const contents = replacements[relative(root, path).replaceAll('\\', '/')];
      return contents === undefined ? undefined : { contents, loader: loaders[extname(path)] ?? 'js' };
    });
  },
};
