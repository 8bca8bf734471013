/** The id of each importable resource, by its address. Google generates the id of a backup schedule. */
export const importIds: Readonly<Record<string, string>> = {
  'google_storage_bucket.source': 'acme-identity-identity-source',
  'google_artifact_registry_repository.functions':
    'projects/acme-identity/locations/europe-west1/repositories/identity-functions',
  'google_service_account.build':
    'projects/acme-identity/serviceAccounts/identity-build@acme-identity.iam.gserviceaccount.com',
  'module.instance["north"].google_firestore_database.this': 'projects/acme-identity/databases/north',
  'module.instance["north"].google_firestore_backup_schedule.daily':
    'projects/acme-identity/databases/north/backupSchedules/SCHEDULE',
  'module.instance["north"].google_firebaserules_release.this': 'projects/acme-identity/releases/cloud.firestore/north',
  'module.instance["north"].google_storage_bucket.transfer["transfers"]': 'acme-identity-north-transfers',
  'module.instance["north"].google_service_account.function["export"]':
    'projects/acme-identity/serviceAccounts/north-export@acme-identity.iam.gserviceaccount.com',
  'module.instance["north"].google_cloudfunctions2_function.this["export"]':
    'projects/acme-identity/locations/europe-west1/functions/north-export',
  'module.instance["north"].google_logging_project_bucket_config.audit':
    'projects/acme-identity/locations/europe-west1/buckets/north-audit',
  'module.instance["north"].google_logging_project_sink.audit': 'projects/acme-identity/sinks/north-audit',
  'module.edge.google_compute_region_network_endpoint_group.this["north/export"]':
    'projects/acme-identity/regions/europe-west1/networkEndpointGroups/north-export',
  'module.edge.google_compute_backend_service.this["north/export"]':
    'projects/acme-identity/global/backendServices/north-export',
  'module.edge.google_certificate_manager_dns_authorization.this["id.example.com"]':
    'projects/acme-identity/locations/global/dnsAuthorizations/identity-2659104e',
  'module.edge.google_certificate_manager_certificate.this["id.example.com"]':
    'projects/acme-identity/locations/global/certificates/identity-2659104e',
  'module.edge.google_certificate_manager_certificate_map.this':
    'projects/acme-identity/locations/global/certificateMaps/identity',
  'module.edge.google_certificate_manager_certificate_map_entry.this["id.example.com"]':
    'projects/acme-identity/locations/global/certificateMaps/identity/certificateMapEntries/identity-2659104e',
  'module.edge.google_compute_global_address.this["IPV4"]': 'projects/acme-identity/global/addresses/identity',
  'module.edge.google_compute_ssl_policy.this': 'projects/acme-identity/global/sslPolicies/identity',
  'module.edge.google_compute_security_policy.this': 'projects/acme-identity/global/securityPolicies/identity',
  'module.edge.google_compute_url_map.this': 'projects/acme-identity/global/urlMaps/identity',
  'module.edge.google_compute_target_https_proxy.this': 'projects/acme-identity/global/targetHttpsProxies/identity',
  'module.edge.google_compute_global_forwarding_rule.https["IPV4"]':
    'projects/acme-identity/global/forwardingRules/identity',
};
