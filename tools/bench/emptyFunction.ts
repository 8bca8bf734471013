import { http } from '@google-cloud/functions-framework';

// The least that a function can be.
http('emptyFunction', (_request, response) => void response.sendStatus(404));
