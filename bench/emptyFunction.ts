import firestore from '@google-cloud/firestore';
import { http } from '@google-cloud/functions-framework';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';

// The least that a function on Hono with a client of Firestore can be.
const client = new firestore.v1.FirestoreClient({ projectId: 'empty' });
const app = new Hono().notFound((context) => context.json({ calls: typeof client.commit }, 404));
const listen = getRequestListener(app.fetch);
http('emptyFunction', (request, response) => void listen(request, response));
