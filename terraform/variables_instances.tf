variable "instances" {
  description = <<-EOT
    The instances by id. A new entry creates an instance.
    The id prefixes the names of its resources, and cannot change later.
      domains             the instance's domains: the first is its base URL, the others serve the same, such as the next or the former domain
      database            the database's name if it is not the id, such as that of a restored backup; to change it, change Terraform's state first
      database_kms_key    your key for the database, in its location, by default Google's own; it cannot change later
      location            the database's location, by default the region; it cannot change later
      exporters           service accounts that may create objects in the bucket for exports; requests carry their keys
      importers           service accounts that may read objects of the bucket for imports; requests carry their keys
      cors_origins        origins whose pages may call the functions from a browser, by default none
      min_instances       processes of removeOtpEmail that always run; with 0, the first request waits for a cold start
      max_instances       greatest number of processes of each function; the 20 CPUs of a new project in a region are enough for six of each
      memory              MiB of memory by function, such as { import = 2048 }, by default 512, for exports and imports 1024; V8's heap has half of it
      backup_days         days for which daily backups are kept
      master_key_version  version of the Secret Manager secret ID-master-key, which contains the master key
  EOT
  type = map(object({
    domains            = list(string)
    database           = optional(string)
    database_kms_key   = optional(string)
    location           = optional(string)
    exporters          = optional(set(string), [])
    importers          = optional(set(string), [])
    cors_origins       = optional(set(string), [])
    min_instances      = optional(number, 0)
    max_instances      = optional(number, 6)
    memory             = optional(map(number), {})
    backup_days        = optional(number, 7)
    master_key_version = optional(string, "1")
  }))
  nullable = false

  validation {
    condition     = length(var.instances) > 0
    error_message = "instances must have at least one entry: the load balancer needs a default backend. To remove everything, run terraform destroy."
  }

  # Default quotas of a project: 100 databases and 100 service accounts (https://cloud.google.com/firestore/quotas,
  # https://cloud.google.com/iam/quotas). An instance has three accounts, and the builds have one.
  validation {
    condition     = length(var.instances) <= 25
    error_message = "A project holds at most 25 instances. Create further ones in another cell: another project with this configuration, a state bucket and a terraform.tfvars of its own (docs/operations-google-cloud.md, \"Cells\")."
  }

  validation {
    condition = alltrue([
      for instance in values(var.instances) : instance.database_kms_key == null ? true :
      can(regex("^projects/[^/]+/locations/[^/]+/keyRings/[^/]+/cryptoKeys/[^/]+$", instance.database_kms_key))
    ])
    error_message = "An instance's database_kms_key must be the full name of a key, such as \"projects/acme-keys/locations/europe-west1/keyRings/identity/cryptoKeys/north\"."
  }

  # A service account's id has at most 30 characters, which leaves 20. A UUID, which Firestore rejects as a name, cannot fit.
  # Cloud Storage rejects "google" in the names of buckets.
  validation {
    condition     = alltrue([for id in keys(var.instances) : can(regex("^[a-z][a-z0-9-]{2,18}[a-z0-9]$", id)) && !strcontains(id, "google")])
    error_message = "An instance's id must be 4 to 20 lower-case letters, digits and hyphens without \"google\", beginning with a letter and not ending in a hyphen, such as \"north\"."
  }

  validation {
    condition     = alltrue([for instance in values(var.instances) : length(instance.domains) > 0])
    error_message = "An instance must have at least one domain."
  }

  validation {
    condition = alltrue([
      for domain in flatten(values(var.instances)[*].domains) :
      length(domain) <= 253 && can(regex("^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$", domain))
    ])
    error_message = "An instance's domains must be full domain names in lower case without scheme, port, path or wildcard, such as \"id.example.com\"."
  }

  validation {
    condition     = length(distinct(flatten(values(var.instances)[*].domains))) == length(flatten(values(var.instances)[*].domains))
    error_message = "Every instance must have domains of its own."
  }

  validation {
    condition = alltrue([
      for instance in values(var.instances) : instance.database == null ? true :
      can(regex("^[a-z][a-z0-9-]{2,61}[a-z0-9]$", instance.database)) && !can(regex("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", instance.database))
    ])
    error_message = "An instance's database must be 4 to 63 lower-case letters, digits and hyphens, beginning with a letter, not ending in a hyphen and not a UUID, such as \"north-restored\"."
  }

  validation {
    condition     = length(distinct([for id, instance in var.instances : coalesce(instance.database, id)])) == length(var.instances)
    error_message = "Every instance must have a database of its own."
  }

  validation {
    condition = alltrue([
      for instance in values(var.instances) :
      instance.location == null ? true : can(regex("^([a-z]+-[a-z]+[0-9]{1,2}|eur3|nam5|nam7)$", instance.location))
    ])
    error_message = "An instance's location must be a region such as \"europe-west1\", or one of the multi-regions eur3, nam5 and nam7."
  }

  validation {
    condition = alltrue(flatten([
      for instance in values(var.instances) : [
        for member in setunion(instance.exporters, instance.importers) :
        can(regex("^serviceAccount:[a-z0-9-]+@[a-z0-9.-]+\\.gserviceaccount\\.com$", member))
      ]
    ]))
    error_message = "exporters and importers must be service accounts, such as \"serviceAccount:exporter@acme-identity.iam.gserviceaccount.com\": requests accept no other credentials."
  }

  validation {
    condition = alltrue(flatten([
      for instance in values(var.instances) :
      [for origin in instance.cors_origins : can(regex("^https?://[a-z0-9.-]+(:[0-9]{1,5})?$", origin))]
    ]))
    error_message = "cors_origins must be origins in lower case without a path, such as \"https://console.example.com\"."
  }

  validation {
    condition     = alltrue([for instance in values(var.instances) : can(regex("^[1-9][0-9]*$", instance.master_key_version))])
    error_message = "master_key_version must be the number of a version, such as \"2\": with \"latest\", processes of one function could have different keys."
  }

  validation {
    condition     = alltrue([for instance in values(var.instances) : contains(range(11), instance.min_instances)])
    error_message = "An instance's min_instances must be a whole number from 0 to 10."
  }

  validation {
    condition     = alltrue([for instance in values(var.instances) : contains(range(1, 101), instance.max_instances) && instance.max_instances >= instance.min_instances])
    error_message = "An instance's max_instances must be a whole number from 1 to 100, and at least min_instances."
  }

  # Cloud Run gives one CPU at most 4 GiB.
  validation {
    condition = alltrue(flatten([
      for instance in values(var.instances) : [
        for function, memory in instance.memory : contains(local.functions, function) && memory >= 512 && memory <= 4096 && floor(memory) == memory
      ]
    ]))
    error_message = "An instance's memory must be whole numbers of MiB from 512 to 4096 by names of functions: removeOtpEmail, export, import."
  }

  validation {
    condition     = alltrue([for instance in values(var.instances) : contains(range(1, 99), instance.backup_days)])
    error_message = "An instance's backup_days must be a whole number from 1 to 98, which is Firestore's maximum."
  }
}
