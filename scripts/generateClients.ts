import { readApi } from './clients/api.ts';
import { brunoFiles } from './clients/bruno.ts';
import { writeFiles } from './clients/files.ts';
import { pythonFiles } from './clients/python.ts';
import { receiverFiles } from './clients/receivers.ts';

/*
 * Writes the files of the clients that derive from `openapi.json`, and those that derive from the clients. Git ignores
 * them.
 */

const api = readApi();
writeFiles({ ...pythonFiles(api), ...brunoFiles(api), ...receiverFiles() }, ['clients/bruno']);
