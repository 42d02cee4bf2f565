// What your program compiles in. The variables let you try the example with a service of your own.
const service = process.env.LICENSE_SERVICE ?? 'http://127.0.0.1:8080';

export const settings = {
  service,
  issuer: process.env.LICENSE_ISSUER ?? service,
  products: ['personal', 'sellers'],
  publicKeys: JSON.parse(process.env.LICENSE_KEYS ?? '[]'),
  appVersion: '1.0.0',
};
