import firestore from '@google-cloud/firestore';
import { http } from '@google-cloud/functions-framework';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';

// The least that a function on Hono with a client of Firestore can be: what ours take longer than this one is their own.
const client = new firestore.v1.FirestoreClient({ projectId: 'empty' });
const app = new Hono().get('/', (context) => context.json({ calls: typeof client.commit }));
const listen = getRequestListener(app.fetch);
http('emptyFunction', (request, response) => void listen(request, response));
