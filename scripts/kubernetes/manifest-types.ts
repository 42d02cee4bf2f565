/** The type of each kind that deploy/kubernetes contains, by `apiVersion` and `kind`, as Kubernetes' OpenAPI document names it. */
export const MANIFEST_TYPES: Readonly<Record<string, string>> = {
  'v1 ConfigMap': 'io.k8s.api.core.v1.ConfigMap',
  'v1 PersistentVolumeClaim': 'io.k8s.api.core.v1.PersistentVolumeClaim',
  'v1 Service': 'io.k8s.api.core.v1.Service',
  'apps/v1 Deployment': 'io.k8s.api.apps.v1.Deployment',
  'batch/v1 Job': 'io.k8s.api.batch.v1.Job',
  'networking.k8s.io/v1 Ingress': 'io.k8s.api.networking.v1.Ingress',
  'networking.k8s.io/v1 NetworkPolicy': 'io.k8s.api.networking.v1.NetworkPolicy',
  'policy/v1 PodDisruptionBudget': 'io.k8s.api.policy.v1.PodDisruptionBudget',
};
