// Draws the interface document with Swagger UI, in the colours that the reader's system prefers.
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  presets: [SwaggerUIBundle.presets.apis],
  // Never ask another host whether the document is valid.
  validatorUrl: null,
});
