/** The health check of the image: succeeds while the service is ready for requests. */
const port = process.env['LATCHKEY_PORT'] ?? '8080';
const response = await fetch(`http://127.0.0.1:${port}/api/v1/health/ready`);
process.exitCode = response.ok ? 0 : 1;
