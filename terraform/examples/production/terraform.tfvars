project_id = "acme-identity"
region     = "europe-west1"

notification_channels = ["projects/acme-identity/notificationChannels/1234567890"]
labels                = { team = "identity", environment = "production" }

monthly_budget = { billing_account = "012345-6789AB-CDEF01", amount = 500 }

# The organisation forbids allUsers.
public_access = "unchecked"

# Bytes of users stay in Europe, under keys that the customer can revoke.
kms_key = "projects/acme-keys/locations/europe-west1/keyRings/identity/cryptoKeys/identity"

requests_per_minute       = 1200
admin_requests_per_minute = 30
audit_retention_days      = 730

instances = {
  north = {
    domains          = ["north.example.com"]
    location         = "eur3"
    database_kms_key = "projects/acme-keys/locations/europe/keyRings/identity/cryptoKeys/north"
    cors_origins     = ["https://console.example.com"]
    exporters        = ["serviceAccount:exporter@acme-identity.iam.gserviceaccount.com"]
    importers        = ["serviceAccount:importer@acme-identity.iam.gserviceaccount.com"]
    min_instances    = 1

    # The project has a quota of 100 CPUs in the region.
    max_instances = 20
  }
  south = {
    domains            = ["south.example.com"]
    database_kms_key   = "projects/acme-keys/locations/europe-west1/keyRings/identity/cryptoKeys/south"
    master_key_version = "2"
  }
}
